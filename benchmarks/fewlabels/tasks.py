"""The tasks: where their data are, how they are split, and which texts a seed draws.

Of the official training data, always the same 500 records (a fifth, if that is less)
are held out to choose hyperparameters on. A seed draws its training texts from the
rest. Runs are scored on the official dev data, once each. WikiGold has none: always the
same fifth of its sentences is its dev data.
"""

import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

Part = Literal["dev", "held-out"]
Kind = Literal["labels", "scores", "tokens"]

HELD_OUT = 500
# The seed of the split that all runs share.
_SPLIT = 0


class Task(NamedTuple):
    """A task.

    pipeline (str): The task, as `spanft init --pipeline` calls it.
    component (str): The component on top of the encoder.
    train (str): The file of the training data.
    dev (str): The file of the dev data; "" splits it off the training data.
    metrics (tuple[str, ...]): Keys of spaCy's scores, the main metric first.
    text (str): The column of the text; "" for files in CoNLL's columns.
    set (dict[str, Any]): Other settings of its config.
    """

    pipeline: str
    component: str
    train: str
    dev: str
    metrics: tuple[str, ...]
    text: str = ""
    set: dict[str, Any] = {}  # noqa: RUF012 (never written to)

    @property
    def kind(self) -> Kind:
        """What is predicted: labels of texts, scores of texts, or tags of tokens."""
        if not self.text:
            return "tokens"
        return "scores" if self.pipeline == "score" else "labels"


_CATS = ("cats_accuracy", "cats_macro_f")
_POSITIVE = {"@scorers": "spacy-spanft.classification_scorer.v1", "positive_label": "1"}
_SCORER = {"components.textcat.scorer": _POSITIVE}
_COLA = ("cats_matthews", "cats_accuracy", "cats_macro_f")
_MRPC = ("cats_accuracy", "cats_macro_f", "cats_f1")
_STS = ("cats_spearman", "cats_pearson")
_ENTS = ("ents_f", "ents_p", "ents_r")
_WNUT = ("ner/wnut17/wnut17train.conll", "ner/wnut17/emerging.dev.conll")


def _glue(name: str) -> tuple[str, str]:
    return f"glue/{name}/train.tsv", f"glue/{name}/dev.tsv"


TASKS = {
    "CoLA": Task("textcat", "textcat", *_glue("CoLA"), _COLA, "sentence", _SCORER),
    "SST-2": Task("textcat", "textcat", *_glue("SST-2"), _CATS, "sentence", _SCORER),
    "MRPC": Task("pair", "textcat", *_glue("MRPC"), _MRPC, "sentence1", _SCORER),
    "STS-B": Task("score", "text_regressor", *_glue("STS-B"), _STS, "sentence1"),
    "WNUT17": Task("bilou_ner", "bilou_ner", *_WNUT, _ENTS),
    "WikiGold": Task(
        "bilou_ner", "bilou_ner", "ner/wikigold/wikigold.conll.txt", "", _ENTS
    ),
}


class Data(NamedTuple):
    """The data of a run: records as they stand in the file, and its first line."""

    header: str  # "" if there is none
    pool: list[str]  # what training texts are drawn from
    train: list[str]
    test: list[str]


def is_there(folder: Path, task: Task) -> bool:
    """Whether a folder has all files of a task."""
    return all((folder / file).is_file() for file in (task.train, task.dev) if file)


def check_data(folder: Path, names: Iterable[str]) -> None:
    """Raise if a folder lacks the data of a task."""
    if missing := [name for name in names if not is_there(folder, TASKS[name])]:
        raise SystemExit(f"{folder} lacks the data of {', '.join(missing)}.")


def draw(folder: Path, task: Task, part: Part, size: int, seed: int) -> Data:
    """Draw training texts, and read the texts to score on.

    part (Literal["dev", "held-out"]): The part to score on: the dev data, or the part
        of the training data that is held out.
    seed (int): The seed of the draw, which is the same for all arms.
    """
    header, rows = _read(folder / task.train, task)
    random.Random(_SPLIT).shuffle(rows)
    if task.dev:
        dev = _read(folder / task.dev, task)[1]
    else:
        dev, rows = rows[: len(rows) // 5], rows[len(rows) // 5 :]
    n_held_out = min(HELD_OUT, len(rows) // 5)
    held_out, pool = rows[:n_held_out], rows[n_held_out:]
    if len(pool) < size:
        # The run would be one of another size.
        raise SystemExit(f"{task.train} has {len(pool):,} texts to draw {size:,} from.")
    train = random.Random(f"{size} {seed}").sample(pool, size)
    return Data(header, pool, train, dev if part == "dev" else held_out)


def write(path: Path, task: Task, header: str, rows: Sequence[str]) -> Path:
    """Write records in the format that they had, and return the file."""
    lines = [header, *rows] if task.text else ["\n\n".join(rows)]
    path.write_text("\n".join(lines) + "\n", "utf8")
    return path


def _read(path: Path, task: Task) -> tuple[str, list[str]]:
    text = path.read_text("utf8")
    if task.text:
        header, *rows = text.rstrip("\n").split("\n")
        return header, rows
    # In WNUT17 the lines between texts are not all empty: some hold a tab.
    blocks = map(_no_document_marks, re.split(r"\n[ \t]*\n", text))
    return "", [block for block in blocks if block.strip()]


def _no_document_marks(block: str) -> str:
    lines = (line for line in block.split("\n") if line[:10] != "-DOCSTART-")
    return "\n".join(lines)
