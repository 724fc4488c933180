"""`python -m spacy spanft explain` and `phrases`."""

import json
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option
from wasabi.tables import table

from ..errors import SpanftError, listed, shown, visible
from .texts import BadBytes, File, read_texts, short_enough
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from ..explanation import Phrase

# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path", show_default=False)]  # noqa: E501
Texts = Annotated[list[str] | None, Argument(help="Texts to explain", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option("--label", "-l", help="The label to explain, instead of the predicted ones")]  # noqa: E501
Against = Annotated[str | None, Option("--against", "-a", help="The label to compare it with, instead of the second best")]  # noqa: E501
Component = Annotated[str | None, Option("--component", "-c", help="The component. Default: the first text classifier over spans, or else the first bilou_ner or spancat")]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Html = Annotated[Path | None, Option("--html", help="Write a page that marks what speaks for and against each label")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print a JSON object for each text or phrase")]  # noqa: E501
OneLabel = Annotated[str | None, Option("--label", "-l", help="Only the phrases of this label")]  # noqa: E501
Number = Annotated[int, Option("--number", "-n", min=1, help="The number of phrases to list for each label")]  # noqa: E501
MinCount = Annotated[int, Option("--min-count", "-m", min=1, help="Leave out phrases that occur less often")]  # noqa: E501
# fmt: on


def explain_cli(
    model: Model,
    texts: Texts = None,
    file: File = None,
    label: Label = None,
    against: Against = None,
    component: Component = None,
    gpu_id: GpuId = -1,
    errors: BadBytes = OnBadBytes.strict,
    html: Html = None,
    jsonl: Jsonl = False,
) -> None:
    """Explain a text's label, entities or spans as a sum of what each part adds."""
    with short_errors():
        from ..explanation import explain_pipe
        from ..explanation.display import to_html, to_json, to_terminal
        from ..util.files import check_page, write_whole
        from ..util.pipelines import load

        if html is not None:
            check_page(html, [file] if file else [])
        read = read_texts(texts, file, errors)
        nlp = load(model, gpu_id)
        with_text = file is not None or len(texts or []) != 1
        explained = []
        for one in explain_pipe(nlp, short_enough(nlp, read), component=component):
            reasons = one.reasons(label, against)
            if html is not None:
                explained.append((one, reasons))
            if jsonl:
                print(to_json(one, reasons))
            elif html is None:
                print(to_terminal(one, reasons, with_text), end="\n\n")
        if html is not None:
            write_whole(html, to_html(explained).encode("utf8"))
            print(f"✔ Wrote {visible(str(html))}", file=sys.stderr)


def phrases_cli(
    model: Model,
    texts: Texts = None,
    file: File = None,
    label: OneLabel = None,
    number: Number = 10,
    min_count: MinCount = 3,
    component: Component = None,
    gpu_id: GpuId = -1,
    errors: BadBytes = OnBadBytes.strict,
    jsonl: Jsonl = False,
) -> None:
    """List the phrases of many texts that speak most for each label."""
    with short_errors():
        from ..explanation import explain_pipe, phrases
        from ..util.pipelines import load

        read = read_texts(texts, file, errors)
        nlp = load(model, gpu_id)
        explained = explain_pipe(nlp, short_enough(nlp, read), component=component)
        first = next(explained)
        if label not in (None, *first.labels):  # before all texts are explained
            raise SpanftError(
                f"label is {shown(label)}, but must be one of {listed(first.labels)}."
            )
        of_labels = phrases(chain([first], explained), min_count=min_count)
        for name in of_labels if label is None else [label]:
            best = of_labels[name][:number]
            if not jsonl:
                print(_table(name, best, min_count))
            for phrase in best if jsonl else ():
                row = {"label": name, **phrase._asdict()}
                print(json.dumps(row, ensure_ascii=False))


def _table(label: str, best: "list[Phrase]", min_count: int) -> str:
    if not best:
        often = f"that occurs {min_count} times or more " if min_count > 1 else ""
        return f"{visible(label)}: no phrase {often}speaks for it.\n"
    rows = [(f"{added:+.2f}", f"{n:,}", visible(text)) for text, n, added in best]
    header = ("adds", "n", visible(label))
    return table(rows, header=header, divider=True, aligns=("r", "r", "l"))
