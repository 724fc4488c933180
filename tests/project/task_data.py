"""Data of the project's tasks, made by chance, in every layout of files."""

import importlib
import json
import random
import sys
from pathlib import Path

import spacy
from spacy.tokens import Doc

from ..tiny import WORDS

sys.path.append(str(Path(__file__).parents[2] / "project" / "scripts"))
TASKS = importlib.import_module("tasks").TASKS

PLAIN = [word for word in WORDS if word.isalpha()]
PART_SIZES = {"train": 40, "dev": 7, "test": 6, "test_mismatched": 5, "whole": 60}
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def rows_of(task, part):
    """Make rows of a part that no other part has: texts, and a label or a score."""
    chance = random.Random(f"{task}/{part}")
    kind, labels = TASKS[task].kind, TASKS[task].labels
    rows = []
    for i in range(PART_SIZES[part]):
        first, second = (" ".join(chance.choices(PLAIN, k=4)) for _ in range(2))
        first = f'{first} {part}{i} "' if i % 3 else f"{part}{i} {first}"
        label = labels[i % len(labels)] if labels else round(chance.uniform(0, 5), 2)
        rows.append((first, None if kind == "single" else second, label))
    return rows


def sentences_of(task, part):
    """Make sentences of tokens and tags."""
    chance = random.Random(f"{task}/{part}")
    sentences = []
    for i in range(PART_SIZES[part]):
        words = [*chance.choices(PLAIN, k=3), f"{part}{i}", "."]
        at = chance.randrange(3)
        tags = ["O"] * len(words)
        tags[at : at + 2] = chance.choice([["B-PER", "I-PER"], ["B-LOC", "O"]])
        sentences.append((words, tags))
    return sentences


def expected_of(task, part):
    """Return the prepared content of a part: texts with cats, or with entities."""
    if TASKS[task].kind == "ner":
        vocab = spacy.blank("en").vocab
        docs = [Doc(vocab, words=w, ents=t) for w, t in sentences_of(task, part)]
        return [content_of(task, doc) for doc in docs]
    expected = []
    for first, second, label in rows_of(task, part):
        text = first if second is None else f"{first} [SEP] {second}"
        labels = TASKS[task].labels
        cats = {name: float(name == label) for name in labels} or {"score": label}
        expected.append((text, cats))
    return expected


def content_of(task, doc):
    if TASKS[task].kind != "ner":
        return doc.text, doc.cats
    spans = [(span.text, span.label_) for span in doc.ents]
    return " ".join(token.text for token in doc), spans


def tsv(columns, *, header=True):
    """Write columns: a function of text, pair and label for each."""

    def write(task, part):
        rows = rows_of(task, part)
        lines = ["\t".join(columns)] if header else []
        lines += ["\t".join(make(*row) for make in columns.values()) for row in rows]
        return "\n".join(lines) + "\n"

    return write


def number(task):
    return lambda a, b, label: str(TASKS[task].labels.index(label))


def first(a, b, label):
    return a


def second(a, b, label):
    return b


def name(a, b, label):
    return str(label)


def some(a, b, label):
    return "x"


def jsonl(task, part):
    lines = [
        {"gold_label": label, "sentence1": a, "sentence2": b, "annotator_labels": []}
        for a, b, label in rows_of(task, part)
    ]
    lines.insert(1, {"gold_label": "-", "sentence1": "no", "sentence2": "label"})
    return "".join(json.dumps(line) + "\n" for line in lines)


def with_gaps(columns, *broken):
    """Put broken lines behind the first row."""
    write = tsv(columns)

    def made(task, part):
        lines = write(task, part).split("\n")
        return "\n".join([*lines[:2], *broken, *lines[2:]])

    return made


def conll(task, part):
    sentences = [
        "".join(f"{word} {tag}\n" for word, tag in zip(*sentence, strict=True))
        for sentence in sentences_of(task, part)
    ]
    return "-DOCSTART- O\n\n" + "\n".join(sentences)


PAIR = {"sentence1": first, "sentence2": second}
GLUE = {"train": "train.tsv", "test": "dev.tsv"}
QUESTIONS = {"question1": first, "question2": second}
LAYOUTS = {
    "cola-raw": (
        "CoLA",
        GLUE,
        tsv({0: some, 1: number("cola"), 2: lambda *_: "", 3: first}, header=False),
    ),
    "cola": ("CoLA", GLUE, tsv({"sentence": first, "label": number("cola")})),
    "sst2": ("SST-2", GLUE, tsv({"sentence": first, "label": number("sst2")})),
    "mrpc-raw": (
        "MRPC",
        GLUE,
        tsv(
            {
                "\ufeffQuality": number("mrpc"),
                "#1 ID": some,
                "#2 ID": some,
                "#1 String": first,
                "#2 String": second,
            }
        ),
    ),
    "mrpc": ("MRPC", GLUE, tsv({**PAIR, "label": number("mrpc")})),
    "qqp": (
        "QQP",
        GLUE,
        with_gaps(
            {"id": some, **QUESTIONS, "is_duplicate": number("qqp")},
            "1\tonly a part of",
            "2\tno\tlabel\t",
        ),
    ),
    "stsb": ("STS-B", GLUE, tsv({"index": some, **PAIR, "score": name})),
    "stsb-label": ("STS-B", GLUE, tsv({**PAIR, "label": name})),
    "mnli": (
        "MNLI",
        {
            "train": "train.tsv",
            "test": "dev_matched.tsv",
            "test_mismatched": "dev_mismatched.tsv",
        },
        tsv({"index": some, **PAIR, "label1": some, "gold_label": name}),
    ),
    "qnli": (
        "QNLI",
        GLUE,
        tsv({"index": some, "question": first, "sentence": second, "label": name}),
    ),
    "rte": ("RTE", GLUE, tsv({"index": some, **PAIR, "label": name})),
    "wnli": ("WNLI", GLUE, tsv({"index": some, **PAIR, "label": number("wnli")})),
    "snli": (
        "SNLI",
        {part: f"{part}.tsv" for part in ("train", "dev", "test")},
        with_gaps({"index": some, **PAIR, "gold_label": name}, "0\tno\tlabel\t-"),
    ),
    "snli-jsonl": (
        "SNLI",
        {part: f"{part}.jsonl" for part in ("train", "dev", "test")},
        jsonl,
    ),
    "snli-raw": (
        "snli_1.0",
        {part: f"snli_1.0_{part}.jsonl" for part in ("train", "dev", "test")},
        jsonl,
    ),
    "conll2003": (
        "conll2003",
        {"train": "train.txt", "dev": "valid.txt", "test": "test.txt"},
        conll,
    ),
    "conll2003-raw": (
        "conll2003",
        {"train": "eng.train", "dev": "eng.testa", "test": "eng.testb"},
        conll,
    ),
    "wnut17": (
        "wnut17",
        {
            "train": "wnut17train.conll",
            "dev": "emerging.dev.conll",
            "test": "emerging.test.annotated",
        },
        conll,
    ),
    "wikigold": ("wikigold", {"whole": "wikigold.conll.txt"}, conll),
}


def write_layout(layout, folder):
    """Write the files of a layout into a folder."""
    _, files, write = LAYOUTS[layout]
    folder.mkdir(parents=True, exist_ok=True)
    for part, file in files.items():
        (folder / file).write_text(write(layout.split("-")[0], part), encoding="utf8")
