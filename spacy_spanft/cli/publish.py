"""`python -m spacy spanft card | push`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from .options import Force, Model
from .util import report


def card_cli(
    model: Model,
    output: Annotated[Path | None, Option("--output", "-o", help="The file to write, such as README.md in the pipeline's folder; by default, the standard output")] = None,  # noqa: E501
    repo: Annotated[str | None, Option("--repo", "-r", help="The repository on the hub (USER/NAME), for the code that loads the pipeline")] = None,  # noqa: E501
    force: Force = False,
) -> None:  # fmt: skip
    """Write the model card of a pipeline: its task, scores, data and dictionary."""
    from ..scale import model_card, read_saved
    from ..util.files import check_target, write_whole

    if output is not None:
        check_target(output, force=force)
    card = model_card(read_saved(model), repo)
    if output is None:
        print(card, end="")
        return
    write_whole(output, card.encode())
    report(f"✔ Wrote {output}")


def push_cli(
    model: Model,
    *,
    repo: Annotated[str, Option("--repo", "-r", help="The repository (USER/NAME), created if necessary")],  # noqa: E501
    private: Annotated[bool, Option("--private", help="Let nobody else see the repository")] = False,  # noqa: E501
    message: Annotated[str | None, Option("--message", "-m", help="The message of the commit")] = None,  # noqa: E501
) -> None:  # fmt: skip
    """Upload a pipeline to the Hugging Face hub, with its model card."""
    from ..scale import push

    url = push(model, repo, private=private, message=message)
    print(f"✔ Uploaded {model} to {url}")
