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


def tsv(named=(), *broken, header=True, **columns):
    """Write columns: a function of text, pair and label for each.

    Broken lines are put behind the first row.
    """
    columns = {**dict(named), **columns}

    def write(task, part):
        rows = rows_of(task, part)
        lines = ["\t".join(columns)] if header else []
        lines += ["\t".join(make(*row) for make in columns.values()) for row in rows]
        return "\n".join([*lines[:2], *broken, *lines[2:]]) + "\n"

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


def conll(task, part):
    sentences = [
        "".join(f"{word} {tag}\n" for word, tag in zip(*sentence, strict=True))
        for sentence in sentences_of(task, part)
    ]
    return "-DOCSTART- O\n\n" + "\n".join(sentences)


def parts(train, dev, test):
    return {"train": train, "dev": dev, "test": test}


PAIR = {"sentence1": first, "sentence2": second}
QQP = {"id": some, "question1": first, "question2": second}
QQP["is_duplicate"] = number("qqp")
COLA_RAW = {"0": some, "1": number("cola"), "2": some, "3": first}
MRPC_RAW = {"\ufeffQuality": number("mrpc"), "#1 ID": some, "#2 ID": some}
MRPC_RAW |= {"#1 String": first, "#2 String": second}
GLUE = {"train": "train.tsv", "test": "dev.tsv"}
MNLI = {"train": "train.tsv", "test": "dev_matched.tsv"}
MNLI["test_mismatched"] = "dev_mismatched.tsv"
WNUT = parts("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
SNLI = [
    parts(*(f"{n}{part}.jsonl" for part in parts(0, 0, 0))) for n in ("", "snli_1.0_")
]
LAYOUTS = {
    "cola-raw": ("CoLA", GLUE, tsv(COLA_RAW, header=False)),
    "cola": ("CoLA", GLUE, tsv(sentence=first, label=number("cola"))),
    "sst2": ("SST-2", GLUE, tsv(sentence=first, label=number("sst2"))),
    "mrpc-raw": ("MRPC", GLUE, tsv(MRPC_RAW)),
    "mrpc": ("MRPC", GLUE, tsv(PAIR, label=number("mrpc"))),
    "qqp": ("QQP", GLUE, tsv(QQP, "1\tonly a part of", "2\tno\tlabel\t")),
    "stsb": ("STS-B", GLUE, tsv(index=some, **PAIR, score=name)),
    "stsb-label": ("STS-B", GLUE, tsv(PAIR, label=name)),
    "mnli": ("MNLI", MNLI, tsv(index=some, **PAIR, label1=some, gold_label=name)),
    "qnli": ("QNLI", GLUE, tsv(i=some, question=first, sentence=second, label=name)),
    "rte": ("RTE", GLUE, tsv(index=some, **PAIR, label=name)),
    "wnli": ("WNLI", GLUE, tsv(PAIR, label=number("wnli"))),
    "snli": (
        "SNLI",
        parts("train.tsv", "dev.tsv", "test.tsv"),
        tsv({"index": some, **PAIR, "gold_label": name}, "0\tno\tlabel\t-"),
    ),
    "snli-jsonl": ("SNLI", SNLI[0], jsonl),
    "snli-raw": ("snli_1.0", SNLI[1], jsonl),
    "conll2003": ("conll2003", parts("train.txt", "valid.txt", "test.txt"), conll),
    "conll2003-raw": ("conll2003", parts("eng.train", "eng.testa", "eng.testb"), conll),
    "wnut17": ("wnut17", WNUT, conll),
    "wikigold": ("wikigold", {"whole": "wikigold.conll.txt"}, conll),
}


def write_layout(layout, folder):
    """Write the files of a layout into a folder."""
    _, files, write = LAYOUTS[layout]
    folder.mkdir(parents=True, exist_ok=True)
    for part, file in files.items():
        (folder / file).write_text(write(layout.split("-")[0], part), encoding="utf8")
