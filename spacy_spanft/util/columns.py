"""Which columns of a table hold the texts, and the labels or scores."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import SpanftError, listed, meant, shown
from .tables import TEXT, read_table

# What a table must have beside texts.
Answer: TypeAlias = Literal["nothing", "label", "score", "either"]
TEXTS = (TEXT, "text_pair")
ANSWERS: dict[Answer, tuple[str, ...]] = {
    "nothing": (),
    "label": ("label",),
    "score": ("score",),
    "either": ("label", "score"),
}
SETTINGS = (*TEXTS, *ANSWERS["either"])
_PAIRS = [("premise", "hypothesis"), TEXTS]
_PAIRS += [(f"{name}1", f"{name}2") for name in ("sentence", "question", TEXT)]
_TEXT_OR_PAIR = "text, or both of a pair with --text and --text-pair"
_N_SAMPLED = 1_000
_LONGEST_NAME = 5  # words of a column's name; a longer one is a text
_WORD = re.compile(r"[^\W\d_]{2}")

Sample: TypeAlias = dict[str, list[Any]]


def find_columns(
    path: str | Path,
    typed: Mapping[str, str] | None = None,
    usual: Mapping[str, str] | None = None,
    answer: Answer = "nothing",
    option: str | None = None,
    **how: Any,
) -> dict[str, str]:
    """Return the columns of a table: of the "text", and of the "label" or "score".

    They are the typed ones, or the usual ones, or "text", "label" and "score", or the
    only ones that can be meant. Labels that are numbers with decimals are scores.

    typed (Optional[Mapping[str, str]]): The columns that the user named.
    usual (Optional[Mapping[str, str]]): Those of other data, if the table has them.
    option (Optional[str]): The option that names the column, for errors.
    **how: The settings of `read_table`.
    """
    source = shown(str(path))
    sample = _sample(path, source, how)
    columns, wanted = dict(typed or {}), ANSWERS[answer]
    if {"label", "score"} <= columns.keys():
        raise SpanftError("Name --label or --score, not both.")
    for setting, name in columns.items():
        if name not in sample:
            raise SpanftError(
                f"There is no column {shown(name)} in {source}. It has: "
                f"{listed(sample)}.{meant(name, sample)} Name the right one with "
                f"--{option or setting.replace('_', '-')}."
            )
    for setting, name in (usual or {}).items():
        is_wanted = name and (setting in TEXTS or setting in wanted)
        if is_wanted and name in sample and name not in columns.values():
            columns.setdefault(setting, name)
    is_open = not columns.keys() & {*TEXTS}
    if is_open and (answer == "either" or "text_pair" in (usual or {})):
        pairs = [pair for pair in _PAIRS if {*pair} <= sample.keys()]
        columns |= zip(TEXTS, pairs[0], strict=True) if len(pairs) == 1 else ()
    if len(sample) == 1 and "," in (only := next(iter(sample))):
        raise SpanftError(f"{source} has one column, {shown(only)}. Name it .csv.")
    if TEXT not in columns:
        own = "text" if answer == "nothing" else _TEXT_OR_PAIR
        columns[TEXT] = _text(sample, columns, source, option or own)
    if wanted and not columns.keys() & set(wanted):
        columns |= _answer(sample, columns, answer, source)
    return columns


def guess_of(columns: Mapping[str, str], typed: Mapping[str, str]) -> str:
    """Return "text: question, label: kind", or "" if nothing of it is a guess."""
    answer = "score" if "score" in columns else "label"  # which a score replaces
    names = {x: columns[x] for x in (*TEXTS, answer) if x in columns}
    if all(name in (setting, typed.get(setting)) for setting, name in names.items()):
        return ""
    return ", ".join(f"{setting}: {name}" for setting, name in names.items())


def _has_decimals(values: Iterable[Any]) -> bool:
    """Whether all values are numbers, and not all of them whole."""
    try:
        numbers = [float(value) for value in values if not isinstance(value, bool)]
    except (TypeError, ValueError):
        return False
    return all(map(math.isfinite, numbers)) and any(n % 1 for n in numbers)


def _sample(path: str | Path, source: str, how: Mapping[str, Any]) -> Sample:
    """Return the cells of the first rows by column, without empty ones."""
    sample: Sample = {}
    rows = list(islice(read_table(path, **{**how, "broken": "keep"}), _N_SAMPLED))
    if not rows:
        raise SpanftError(f"There are no rows in {source}.")
    for row in rows:
        for name, cell in row.cells.items():
            cells = sample.setdefault(name, [])
            if not row.problem and cell not in (None, "") and cell == cell:  # no NaN
                cells.append(cell)
    if not sample:
        reason = rows[0].problem or "is empty."
        raise SpanftError(f"{rows[0].place} of {source} {reason}")
    return sample


def _named(name: str, sample: Iterable[str]) -> str | None:
    return next((column for column in sample if column.lower() == name), None)


def _text(sample: Sample, taken: Mapping[str, str], source: str, option: str) -> str:
    names = [name for name in sample if name not in taken.values()]
    if named := _named(TEXT, names):
        return named
    texts = [name for name in names if _is_text(sample[name])]
    texts = [name for name in texts if not _repeats(sample[name])] or texts
    is_only = len(names) == 1 and names[0] not in ANSWERS["either"]
    texts = names if is_only else texts
    if len(texts) != 1:
        raise _ask("text", texts or list(sample), source, option)
    if len(texts[0].split()) > _LONGEST_NAME:
        raise _no_header(source, texts[0], "has the length of a text")
    if labels := [x for x in names if x in sample[x] and _repeats(sample[x])]:
        raise _no_header(source, labels[0], "is a label of other rows, too")
    return texts[0]


def _answer(
    sample: Sample, taken: Mapping[str, str], answer: Answer, source: str
) -> dict[str, str]:
    rest = [name for name in sample if name not in taken.values()]
    named = filter(None, (_named(name, rest) for name in ANSWERS[answer]))
    names = list(islice(named, 1)) or rest
    if len(names) > 1 and answer != "score":
        names = [name for name in names if _repeats(sample[name])]
    if (len(names) > 1 and answer == "score") or (not names and answer == "either"):
        names = [name for name in rest if _has_decimals(sample[name])]
    setting = ANSWERS[answer][0]
    if len(names) != 1:
        raise _ask(setting, names or rest, source, setting)
    values = sample[names[0]]
    if names[0] in [str(value).strip() for value in values]:
        raise _no_header(source, names[0], "is a label of other rows, too")
    is_score = answer == "either" and (
        _has_decimals(values) or names[0].lower() == "score"
    )
    return {"score" if is_score else setting: names[0]}


def _ask(setting: str, names: Sequence[str], source: str, option: str) -> SpanftError:
    if not names:
        return SpanftError(f"{source} has no column for the {setting}, only texts.")
    which = f"Which column of {source} holds the {setting}: {listed(names)}?"
    return SpanftError(f"{which} Name it with --{option} (or in task.json: columns).")


def _no_header(source: str, name: str, reason: str) -> SpanftError:
    return SpanftError(
        f"The first line of {source} is not a header but data: {shown(name)} {reason}. "
        "Add a line with the names of the columns. If it has them, pass --text (and "
        "--label, where a command has it)."
    )


def _is_text(values: Sequence[Any]) -> bool:
    """Whether most values have several words, or are not in Latin script."""
    words = [x for x in values if isinstance(x, str) and _WORD.search(x)]
    n_texts = sum(" " in x.strip() or not x.isascii() for x in words)
    return 2 * n_texts > len(values)


def _repeats(values: Sequence[Any]) -> bool:
    """Whether there are several values, each twice or more in the mean."""
    return 1 < len({str(value) for value in values}) <= max(2, len(values) / 2)
