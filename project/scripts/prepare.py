"""Make .spacy files of the data of a task: train, dev and test.

    python scripts/prepare.py cola corpus/cola
    python scripts/prepare.py cola corpus/cola --data-dir FOLDER

The data comes from the Hugging Face hub, or from files in a folder, as GLUE and CoNLL
distribute them. GLUE's own test labels are secret: there the dev data is the test data,
and a tenth of the training data, 2,000 texts at most, is the dev data. WikiGold is cut
80/10/10. Chance is seeded, so the parts are always the same.
"""

import json
import os
import shutil
import sys
import uuid
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer
from sources import from_files, from_hub, no_dataset
from tasks import TASKS, WHOLE, Task

from spacy_spanft.cli.util import short_errors
from spacy_spanft.errors import SpanftError

MAX_DEV = 2_000
# What is trained on each kind, as `spanft init --pipeline` calls it.
PIPELINES = {"single": "textcat", "pair": "pair", "score": "score", "ner": "bilou_ner"}
PAIR_TOKENIZER = "spacy-spanft.PairTokenizer.v1"
# What cannot be recovered from the text: the tags, for entities.
ATTRS = ["TAG", "SENT_START", "ENT_IOB", "ENT_TYPE"]

Parts = dict[str, list[Any]]

# fmt: off
Name = Annotated[str, typer.Argument(metavar="TASK", help=f"One of: {', '.join(TASKS)}", show_default=False)]  # noqa: E501
Output = Annotated[Path, typer.Argument(help="The folder for the files", show_default=False)]  # noqa: E501
DataDir = Annotated[str, typer.Option(help="A folder with the data; '' downloads it")]
OnlyKind = Annotated[str, typer.Option("--kind", help="Refuse tasks of any other kind, such as 'ner'", show_default=False)]  # noqa: E501
Lang = Annotated[str, typer.Option(help="The language of the tokenizer")]
Limit = Annotated[int, typer.Option(help="Keep only so many rows of each part; 0 keeps all")]  # noqa: E501
# fmt: on


def main(
    task: Name,
    output: Output,
    data_dir: DataDir = "",
    kind: OnlyKind = "",
    lang: Lang = "en",
    limit: Limit = 0,
) -> None:
    """Make .spacy files of the data of a task, and a task.json that describes them."""
    with short_errors():
        check_kind(task, kind)
        about = prepare(
            task,
            output,
            data_dir=Path(data_dir) if data_dir else None,
            lang=lang,
            limit=limit,
        )
        counts = ", ".join(f"{part} {n:,}" for part, n in about["counts"].items())
        print(f"✔ Written to {output}: {counts}", file=sys.stderr)


def check_kind(name: str, kind: str) -> None:
    """Raise for a task of another kind."""
    if kind and name in TASKS and TASKS[name].kind != kind:
        there = ", ".join(one for one, task in TASKS.items() if task.kind == kind)
        message = f"{name!r} is not a task of kind {kind!r}. These are: {there}."
        raise SpanftError(message)


def prepare(
    name: str,
    output: Path,
    *,
    data_dir: Path | None = None,
    lang: str = "en",
    limit: int = 0,
) -> dict[str, Any]:
    """Make the files, and give what is written to task.json."""
    if name not in TASKS:
        raise SpanftError(f"There is no task {name!r}. There are: {', '.join(TASKS)}.")
    task = TASKS[name]
    nlp = make_nlp(task, lang)
    if data_dir is None:
        source, corpora = from_hub(task, limit)
    else:
        source, corpora = from_files(name, task, data_dir, limit)
    try:
        read = {part: docs_of(corpus(nlp), part) for part, corpus in corpora.items()}
    except SpanftError as error:
        if data_dir is not None:
            raise
        raise SpanftError(no_dataset(name, task, error)) from error
    parts = divide(name, read)
    kept = {part: docs[: limit or None] for part, docs in parts.items()}
    about = {
        "task": name,
        "kind": task.kind,
        "pipeline": PIPELINES[task.kind],
        "metric": task.metric,
        "positive_label": task.positive_label,
        "labels": list(task.labels),
        "lang": lang,
        "counts": {part: len(docs) for part, docs in kept.items()},
        # Training rows that say the same as one of the dev or test data.
        "left_out": sum(map(len, read.values())) - sum(map(len, parts.values())),
        "source": source,
    }
    files = {f"{part}.spacy": packed(task, docs) for part, docs in kept.items()}
    files["task.json"] = (json.dumps(about, indent=2) + "\n").encode()
    write_together(output, files)
    return about


def make_nlp(task: Task, lang: str) -> Any:
    """Make a pipeline that cuts texts into tokens as the trained ones will do."""
    from spacy_spanft.util.pipelines import blank

    pair_tokenizer = {"nlp": {"tokenizer": {"@tokenizers": PAIR_TOKENIZER}}}
    return blank(lang, pair_tokenizer if task.kind in ("pair", "score") else {})


def docs_of(examples: Iterator[Any], part: str) -> list[Any]:
    """Read all examples of a part."""
    from tqdm import tqdm

    bar = tqdm(examples, f"Reading {part}", unit=" texts", disable=None, leave=False)
    return [example.reference for example in bar]


def divide(name: str, read: Parts) -> Parts:
    """Make train, dev and test data of what was read."""
    from splits import split_in_three, split_off

    parts = dict(read)
    if WHOLE in read:
        parts = split_in_three(read[WHOLE])
    elif "dev" not in read:
        tests = {part: docs for part, docs in read.items() if part != "train"}
        taken = {doc.text for docs in tests.values() for doc in docs}
        n = min(MAX_DEV, max(1, len(read["train"]) // 10))
        train, dev = split_off(read["train"], n, key=attrgetter("text"), taken=taken)
        parts = {"train": train, "dev": dev, **tests}
    for part, docs in parts.items():
        if not docs:
            raise SpanftError(
                f"The data of {name} has only {sum(map(len, read.values()))} rows: "
                f"none are left for {part}."
            )
    return parts


def packed(task: Task, docs: list[Any]) -> bytes:
    """Put Docs into spaCy's format."""
    from spacy.tokens import DocBin

    attrs = ATTRS if task.kind == "ner" else []
    data: bytes = DocBin(attrs=attrs, docs=docs).to_bytes()
    return data


def write_together(folder: Path, files: dict[str, bytes]) -> None:
    """Write files under temporary names first, so that all are there or none."""
    folder = folder.resolve()
    temporary = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    temporary.mkdir(parents=True)
    try:
        for name, data in files.items():
            (temporary / name).write_bytes(data)
        if not folder.exists():
            temporary.rename(folder)
            return
        # The last one tells that the others are whole.
        (folder / list(files)[-1]).unlink(missing_ok=True)
        for name in files:
            os.replace(temporary / name, folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


if __name__ == "__main__":
    typer.run(main)
