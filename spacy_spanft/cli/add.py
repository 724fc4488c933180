"""`python -m spacy spanft add`."""

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from ..errors.visible import visible
from .util import Segmentation, short_errors

# fmt: off
Base = Annotated[str, Argument(help="A config with a textcat, ner or spancat, best over a transformer", show_default=False)]  # noqa: E501
Output = Annotated[str, Argument(help="The config to write; '-' is the standard output", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="A dictionary file, for what looks at spans; the default English one if there is none")]  # noqa: E501
Components = Annotated[list[str] | None, Option("--component", "-c", help="A component that gets spans or windows, any with a tok2vec; can be repeated. All text classifiers, entity recognizers and span categorisers if there is none", show_default=False)]  # noqa: E501
LooksAt = Annotated[Segmentation | None, Option("--segmentation", help="What they look at: spans, or windows over the text without spans; default: spans for text classifiers, none for others", show_default=False)]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing config")]
# fmt: on


def add_cli(
    base: Base,
    output: Output,
    dictionary: DictionaryFile = None,
    component: Components = None,
    segmentation: LooksAt = None,
    force: Force = False,
) -> None:
    """Add spans to a config of your own: the segmenter, and models that know them.

    What labels tokens gets windows over the text instead, unless --segmentation spans
    is given: they found entities better.

    All else stays as it is, but for comments, which spaCy does not keep.
    """
    with short_errors():
        from ..configs import to_text
        from ..configs.adding import add_spans
        from ..configs.reading import read_config
        from ..ngrams.dictionary import NgramDictionary
        from ..util.files import check_target, write_whole

        if output != "-":
            check_target(output, [base, dictionary], force=force)
        if dictionary is not None and dictionary.exists():
            NgramDictionary.from_disk(dictionary)  # says now what is wrong with it
        config, changes = add_spans(
            read_config(base),
            dictionary,
            component or (),
            segmentation.value if segmentation else None,
        )
        text = to_text(config)
        if output == "-":
            print(text, end="")
            return
        write_whole(output, text.encode())
        if dictionary is not None and not dictionary.exists():
            print(f"⚠ There is no dictionary {dictionary} yet.", file=sys.stderr)
        for change in changes:
            print(f"✔ {change}", file=sys.stderr)
        print(f"✔ Written to {visible(output)}. Check it with:", file=sys.stderr)
        command = f"python -m spacy debug config {quote(visible(output))}"
        if not config.get("paths", {}).get("train"):
            command += " --paths.train train.spacy --paths.dev dev.spacy"
        print(f"  {command}", file=sys.stderr)
