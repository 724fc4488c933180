"""`python -m spacy spanft explain`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..errors import check_setting
from ..errors.shortening import listed
from ..errors.visible import visible
from .texts import BadBytes, File, read_texts, short_enough
from .util import OnBadBytes, short_errors

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Span

    from ..explanation import EntityExplanation, Reasons, SpanExplanation
    from ..explanation.drawing import AnyExplanation

# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path", show_default=False)]  # noqa: E501
Texts = Annotated[list[str] | None, Argument(help="Texts to explain", show_default=False)]  # noqa: E501
Label = Annotated[str | None, Option("--label", "-l", help="The label to explain; else the one with the highest score, or that of each entity or span")]  # noqa: E501
Against = Annotated[str | None, Option("--against", "-a", help="The label to compare it with; else the best other one, if exactly one is right, and O for entities")]  # noqa: E501
Component = Annotated[str | None, Option("--component", "-c", help="The component; else the first that classifies over spans, and if there is none, the first bilou_ner or spancat")]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Html = Annotated[Path | None, Option("--html", help="Write a page that marks what speaks for the label and against it")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print a JSON object for each text")]
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
    """Explain a text's label, entities or spans, as a sum of what each part adds.

    The parts of a text are its spans; those of an entity or a span are its tokens and,
    through windows, their neighbors.
    """
    with short_errors():
        from ..explanation.drawing import marked, to_html, to_json, to_terminal
        from ..util.files import check_page, write_whole
        from ..util.pipelines import load

        if html is not None:
            check_page(html, [file] if file else [])
        read = read_texts(texts, file, errors)
        nlp = load(model, gpu_id)
        explained = _explain(nlp, read, component, label, against)
        is_one = file is None and len(texts or []) == 1
        marks = []
        for explanation, found in explained:
            if html is not None:
                marks += marked(explanation, found)
            if jsonl:
                print(to_json(explanation, found))
            elif html is None:
                print(to_terminal(explanation, found, not is_one), end="\n\n")
        if html is not None:
            write_whole(html, to_html(marks).encode("utf8"))
            print(f"✔ Wrote {visible(str(html))}", file=sys.stderr)


def _explain(
    nlp: "Language",
    texts: Iterable[str],
    component: str | None,
    label: str | None,
    against: str | None,
) -> "Iterator[tuple[AnyExplanation, list[Reasons]]]":
    """Explain texts, or all entities or spans in them."""
    from ..explanation import explain_pipe

    read = short_enough(nlp, texts)
    for explanation in explain_pipe(nlp, read, component=component):
        yield explanation, _reasons(explanation, label, against)


def _reasons(
    explanation: "AnyExplanation", label: str | None, against: str | None
) -> "list[Reasons]":
    """Say what speaks for labels; the best one is compared with the second."""
    from ..explanation import EntityExplanation, Explanation
    from ..explanation.explanation import check_labels

    is_ner = isinstance(explanation, EntityExplanation)
    if isinstance(explanation, Explanation) and len(explanation.labels) == 1:
        # A comparison with itself would be left out in silence.
        check_labels(explanation.label, against, explanation.labels)
    for name, value in (("label", label), ("against", against)):
        names = [*explanation.labels]
        # What speaks for no entity is asked for beside the label of one.
        if is_ner and (name == "against" or against not in (None, "O")):
            names.append("O")
        is_there = value is None or value in names
        check_setting(name, value, is_there, f"one of {listed(names)}")
    if isinstance(explanation, Explanation):
        if not len(explanation.doc):
            return []  # no label is predicted of no text
        # Nothing is chosen in its own place: then it is compared as usual.
        is_own = label is None and against == explanation.label
        if is_own or against is None:
            against = explanation.rival(label)
        return [explanation.of(label, against)]
    return [_of_span(explanation, span, label, against) for span in explanation.spans]


def _of_span(
    explanation: "EntityExplanation | SpanExplanation",
    span: "Span",
    label: str | None,
    against: str | None,
) -> "Reasons":
    """Say what speaks for the label of an entity or a span."""
    from ..explanation import SpanExplanation

    if against is None or (label is None and against == span.label_):
        if isinstance(explanation, SpanExplanation):
            return explanation.of(span, label, explanation.rival(span, label))
        return explanation.of(span, label)
    return explanation.of(span, label, against)
