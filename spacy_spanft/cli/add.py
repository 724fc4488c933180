"""`python -m spacy spanft add`."""

import sys
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from ..errors import visible
from .util import Segmentation

# fmt: off
Base = Annotated[str, Argument(help="A config with a textcat, ner or spancat, best over a transformer", show_default=False)]  # noqa: E501
Output = Annotated[str, Argument(help="The config to write; '-' for standard output", show_default=False)]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="A dictionary file; default: the built-in English one")]  # noqa: E501
Components = Annotated[list[str] | None, Option("--component", "-c", help="A component with a tok2vec; can be repeated. Default: all text classifiers, entity recognizers and span categorizers", show_default=False)]  # noqa: E501
Pooled = Annotated[Segmentation | None, Option("--segmentation", help="Add spans, or context windows without spans (none). Default: spans for text classifiers, none for others", show_default=False)]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing config")]
# fmt: on


def add_cli(
    base: Base,
    output: Output,
    dictionary: DictionaryFile = None,
    component: Components = None,
    segmentation: Pooled = None,
    force: Force = False,
) -> None:
    """Add spans to an existing config: the segmenter, and models that pool spans.

    Token-level components (ner, spancat) use context windows by default. All else stays
    as it is, except for comments, which spaCy does not keep.
    """
    from ..configs.adding import add_spans
    from ..configs.reading import read_config
    from ..ngrams.dictionary import NgramDictionary
    from ..util.files import check_target, write_whole

    if output != "-":
        check_target(output, [base, dictionary], force=force)
    if dictionary is not None:
        NgramDictionary.from_disk(dictionary)  # for its errors
    chosen = segmentation.value if segmentation else None
    config, changes = add_spans(read_config(base), dictionary, component or (), chosen)
    text = config.to_str(interpolate=False) + "\n"
    if output == "-":
        print(text, end="")
        return
    write_whole(output, text.encode())
    for change in changes:
        print(f"✔ {change}", file=sys.stderr)
    print(f"✔ Wrote {visible(output)}. Check it with:", file=sys.stderr)
    print(f"  python -m spacy debug config {quote(visible(output))}", file=sys.stderr)
