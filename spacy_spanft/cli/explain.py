"""`python -m spacy spanft explain | phrases`."""

import json
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from typer import Option
from wasabi.tables import table

from ..errors import SpanftError, listed, shown, visible
from .options import BadBytes, File, GpuId, Html, Jsonl, Model, Texts
from .util import read_texts, report, short_enough

if TYPE_CHECKING:
    from ..explanation import Phrase

# fmt: off
Component = Annotated[str | None, Option("--component", "-c", help="The component. Default: the first text classifier over spans, or else the first bilou_ner or spancat")]  # noqa: E501
# fmt: on


def explain_cli(
    model: Model,
    texts: Texts = None,
    file: File = None,
    label: Annotated[str | None, Option("--label", "-l", help="The label to explain, instead of the predicted ones")] = None,  # noqa: E501
    against: Annotated[str | None, Option("--against", "-a", help="The label to compare it with, instead of the second best")] = None,  # noqa: E501
    component: Component = None,
    gpu_id: GpuId = -1,
    errors: BadBytes = "strict",
    html: Html = None,
    jsonl: Jsonl = False,
) -> None:  # fmt: skip
    """Explain a text's label, entities or spans as a sum of what each part adds."""
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
    for text in explain_pipe(nlp, short_enough(nlp, read), component=component):
        reasons = text.reasons(label, against)
        if html is not None:
            explained.append((text, reasons))
        if jsonl:
            print(to_json(text, reasons))
        elif html is None:
            print(to_terminal(text, reasons, with_text), end="\n\n")
    if html is not None:
        write_whole(html, to_html(explained).encode("utf8"))
        report(f"✔ Wrote {html}")


def phrases_cli(
    model: Model,
    texts: Texts = None,
    file: File = None,
    label: Annotated[str | None, Option("--label", "-l", help="Only the phrases of this label")] = None,  # noqa: E501
    number: Annotated[int, Option("--number", "-n", min=1, help="The number of phrases to list for each label")] = 10,  # noqa: E501
    min_count: Annotated[int, Option("--min-count", "-m", min=1, help="Leave out phrases that occur less often")] = 3,  # noqa: E501
    component: Component = None,
    gpu_id: GpuId = -1,
    errors: BadBytes = "strict",
    jsonl: Jsonl = False,
) -> None:  # fmt: skip
    """List the phrases of many texts that speak most for each label."""
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
            print(json.dumps({"label": name, **phrase._asdict()}, ensure_ascii=False))


def _table(label: str, best: "list[Phrase]", min_count: int) -> str:
    if not best:
        often = f"that occurs {min_count} times or more " if min_count > 1 else ""
        return f"{visible(label)}: no phrase {often}speaks for it.\n"
    rows = [(f"{added:+.2f}", f"{n:,}", visible(text)) for text, n, added in best]
    header = ("adds", "n", visible(label))
    return table(rows, header=header, divider=True, aligns=("r", "r", "l"))
