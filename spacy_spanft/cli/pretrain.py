"""`python -m spacy spanft pretrain`."""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from typer import Argument, Option

from ..errors import Errors
from ..errors.shortening import counted
from ..pretraining.settings import Settings
from .util import short_errors, with_parameters

# fmt: off
Model = Annotated[str, Option("--model", "-m", help="The model to begin with, by name or path", show_default=False)]  # noqa: E501
Texts = Annotated[list[str], Option("--text", "-t", help="Text files, compressed or not, with a text or paragraph a line; '-' is the standard input", show_default=False)]  # noqa: E501
More = Annotated[list[str] | None, Argument(help="More text files", metavar="[FILE]...", show_default=False)]  # noqa: E501
Output = Annotated[Path, Option("--output", "-o", help="The folder to write", show_default=False)]  # noqa: E501
Resume = Annotated[bool, Option("--resume", help="Go on from the last checkpoint in the output; begin if there is none")]  # noqa: E501
Overwrite = Annotated[bool, Option("--overwrite", help="Start over, whatever the output holds")]  # noqa: E501
# fmt: on


def _options() -> Iterator[inspect.Parameter]:
    """Make an option of each of the Settings."""
    hints = get_type_hints(Settings)
    for one in fields(Settings):
        kind, default = _kind(one.name, hints[one.name], one.default)
        flag = one.metadata["flag"]
        # A flag of one letter needs the long one beside it.
        flags = (f"--{one.name.replace('_', '-')}", flag) if flag else ()
        about = {"help": one.metadata["help"], "show_default": default is not None}
        yield inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, Option(*flags, **about)],
        )


def _kind(name: str, hint: Any, default: Any) -> tuple[Any, Any]:
    """Make an Enum of what can be one of a few words, as any typer has it."""
    if get_origin(hint) is not Literal:
        return hint, default
    words = Enum(name, {word: word for word in get_args(hint)})  # type: ignore[misc]
    return words, words(default)


def pretrain_cli(
    model: Model,
    text: Texts,
    output: Output,
    more: More = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    **settings: Any,
) -> None:
    """Pre-train an encoder on text of your own, as SpanBERT was.

    Spans of words are masked, and predicted from their context, and from the two
    tokens beside them. The output is a folder that spaCy takes as the name of a
    transformer. `torchrun -m spacy spanft pretrain ...` uses several GPUs.
    """
    with short_errors():
        from ..pretraining import pretrain
        from ..pretraining.folder import last_whole
        from ..pretraining.run import is_main

        given = {
            name: value.value if isinstance(value, Enum) else value
            for name, value in settings.items()
        }
        try:
            done = pretrain(
                model,
                [*text, *(more or ())],
                output,
                Settings(**given),
                resume=resume,
                overwrite=overwrite,
            )
        except KeyboardInterrupt:
            has_one = last_whole(output) is not None
            message = Errors.STOPPED_TRAINING if has_one else Errors.STOPPED_EARLY
            print(message, file=sys.stderr)
            raise
        if not is_main():
            return
        reached = ""
        if done.perplexity is not None:
            reached = f", held-out perplexity {done.perplexity:.2f}"
        steps = counted(done.steps, "step")
        print(f"✔ Wrote {output}: {steps}{reached}", file=sys.stderr)


with_parameters(pretrain_cli, _options())
