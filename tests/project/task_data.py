"""Data of the project's tasks, made by chance, in every layout of files."""

import importlib
import json
import random
import sys
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..tiny import WORDS

sys.path.append(str(Path(__file__).parents[2] / "project" / "scripts"))
TASKS = importlib.import_module("tasks").TASKS

PLAIN = [word for word in WORDS if word.isalpha()]
PART_SIZES = {"train": 40, "dev": 7, "test": 6, "test_mismatched": 5, "whole": 60}


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
        docs = [Doc(Vocab(), words=w, ents=t) for w, t in sentences_of(task, part)]
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


def tsv(columns, *broken, header=True, **more):
    """Write columns: what each holds of the texts a and b, the label and its number.

    Broken lines are put behind the first row.
    """
    columns = {**columns, **more}

    def write(task, part):
        labels = TASKS[task].labels
        lines = ["\t".join(columns)] if header else []
        for a, b, label in rows_of(task, part):
            number = labels.index(label) if labels else None
            row = "\t".join(columns.values())
            lines.append(row.format(a=a, b=b, label=label, number=number))
        return "\n".join([*lines[:2], *broken, *lines[2:]]) + "\n"

    return write


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


PAIR = {"sentence1": "{a}", "sentence2": "{b}"}
QQP = {"id": "x", "question1": "{a}", "question2": "{b}"}
QQP["is_duplicate"] = "{number}"
COLA_RAW = {"0": "x", "1": "{number}", "2": "*", "3": "{a}"}
MRPC_RAW = {"\ufeffQuality": "{number}", "#1 ID": "x", "#2 ID": "x"}
MRPC_RAW |= {"#1 String": "{a}", "#2 String": "{b}"}
GLUE = {"train": "train.tsv", "test": "dev.tsv"}
MNLI = {"train": "train.tsv", "test": "dev_matched.tsv"}
MNLI["test_mismatched"] = "dev_mismatched.tsv"
WNUT = parts("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
LAYOUTS = {
    "cola": ("CoLA", GLUE, tsv({"sentence": "{a}", "label": "{number}"})),
    "cola-raw": ("CoLA", GLUE, tsv(COLA_RAW, header=False)),
    "sst2": ("SST-2", GLUE, tsv({"sentence": "{a}", "label": "{number}"})),
    "mrpc-raw": ("MRPC", GLUE, tsv(MRPC_RAW)),
    "qqp": ("QQP", GLUE, tsv(QQP, "1\tonly a part of", "2\tno\tlabel\t")),
    "stsb": ("STS-B", GLUE, tsv({"index": "x", **PAIR, "score": "{label}"})),
    "mnli": ("MNLI", MNLI, tsv(PAIR, label1="x", gold_label="{label}")),
    "rte": ("RTE", GLUE, tsv({"index": "x", **PAIR}, label="{label}")),
    "snli-jsonl": ("SNLI", parts("train.jsonl", "dev.jsonl", "test.jsonl"), jsonl),
    "conll2003": ("conll2003", parts("train.txt", "valid.txt", "test.txt"), conll),
    "wnut17": ("wnut17", WNUT, conll),
    "wikigold": ("wikigold", {"whole": "wikigold.conll.txt"}, conll),
}


def write_layout(layout, folder):
    _, files, write = LAYOUTS[layout]
    folder.mkdir(parents=True, exist_ok=True)
    for part, file in files.items():
        (folder / file).write_text(write(layout.split("-")[0], part), encoding="utf8")
