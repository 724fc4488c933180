"""`python -m spacy spanft phrases`."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from typer import Option
from wasabi.tables import table

from ..errors import Errors, SpanftError
from ..errors.shortening import listed
from ..errors.visible import visible
from .explain import GpuId, Model, Texts
from .texts import BadBytes, File, read_texts, short_enough
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from ..explanation import Explanation, Phrase

# fmt: off
Label = Annotated[str | None, Option("--label", "-l", help="Only the phrases of this label")]  # noqa: E501
Component = Annotated[str | None, Option("--component", "-c", help="The component; else the first text classifier over spans")]  # noqa: E501
Number = Annotated[int, Option("--number", "-n", min=1, help="How many phrases to list for each label")]  # noqa: E501
MinCount = Annotated[int, Option("--min-count", "-m", min=1, help="Leave out phrases that are found less often")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print a JSON object for each phrase")]
# fmt: on


def phrases_cli(
    model: Model,
    texts: Texts = None,
    file: File = None,
    label: Label = None,
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
        read = short_enough(nlp, read)
        explained = explain_pipe(nlp, read, component=component)
        found = phrases(_with_label(explained, label), min_count=min_count)
        for name in found if label is None else [label]:
            shown = found[name][:number]
            if not jsonl:
                print(_table(name, shown, min_count))
            for one in shown if jsonl else ():
                row = {"label": name, **one._asdict()}
                print(json.dumps(row, ensure_ascii=False))


def _with_label(
    explained: "Iterable[Explanation]", label: str | None
) -> "Iterator[Explanation]":
    """Raise at the first text if there is no such label."""
    for one in explained:
        if label is not None and label not in one.labels:
            place = {"name": "label", "value": label}
            place["expected"] = f"one of {listed(one.labels)}"
            raise SpanftError(Errors.BAD_SETTING.format(**place))
        yield one


def _table(label: str, shown: "list[Phrase]", min_count: int) -> str:
    if not shown:
        often = f"found {min_count} times or more " if min_count > 1 else ""
        return f"{visible(label)}: no phrase {often}speaks for it.\n"
    rows = [(f"{one.added:+.2f}", f"{one.n:,}", visible(one.text)) for one in shown]
    header = ("adds", "found", visible(label))
    return table(rows, header=header, divider=True, aligns=("r", "r", "l"))
