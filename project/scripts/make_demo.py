"""Write the data of the demo: texts to count, a textcat set and an NER set.

Nothing is read and nothing comes from elsewhere: the language is that of
demo_language.py. With --nltk only the data from which NLTK's tagger and chunker learn
it is written, in the format of NLTK's own data, for where NLTK has none of its own.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import spacy
import typer
from demo_language import KINDS, Sentence, make_sentence
from spacy.language import Language
from spacy.tokens import Doc, DocBin

SIZES = {"train": 1000, "dev": 100, "test": 500}
N_LINES = 10_000
# How many tagged sentences NLTK learns from.
N_TAGGED = 1000


def main(output: Path, seed: int = 0, scale: float = 1.0, nltk: bool = False) -> None:
    """Write the texts and the two tasks, or with --nltk the data for NLTK.

    scale makes it smaller, for trials.
    """
    chance = random.Random(f"{seed} nltk" if nltk else seed)
    if nltk:
        tagged = make_new(chance, int(N_TAGGED * scale), "ner", set())
        write_nltk_data(output, list(tagged))
        return
    nlp = spacy.blank("en")
    seen: set[str] = set()
    for task in ("textcat", "ner"):
        (output / task).mkdir(parents=True, exist_ok=True)
        for part, size in SIZES.items():
            sentences = make_new(chance, max(4, int(size * scale)), task, seen)
            docs = [make_doc(nlp, one, task) for one in sentences]
            DocBin(docs=docs).to_disk(output / task / f"{part}.spacy")
        write_task(output / task, task)
    text = make_new(chance, int(N_LINES * scale), "ner", seen)
    lines = [" ".join(word.text for word in one.words) for one in text]
    (output / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf8")


def write_task(folder: Path, task: str) -> None:
    """Return what is trained on the data, and by what it is scored."""
    pipeline, metric = {
        "textcat": ("textcat", "cats_accuracy"),
        "ner": ("bilou_ner", "ents_f"),
    }[task]
    about = {"task": task, "pipeline": pipeline, "metric": metric}
    text = json.dumps(about, indent=2)
    (folder / "task.json").write_text(text + "\n", encoding="utf8")


def make_new(
    chance: random.Random, n: int, task: str, seen: set[str]
) -> Iterator[Sentence]:
    """Make sentences that nobody has seen before."""
    while n:
        # A text to classify has one expression, a text for NER two.
        kinds = [chance.choice(KINDS) for _ in range(1 if task == "textcat" else 2)]
        sentence = make_sentence(chance, kinds)
        text = " ".join(word.text for word in sentence.words)
        if text not in seen:
            seen.add(text)
            n -= 1
            yield sentence


def make_doc(nlp: Language, sentence: Sentence, task: str) -> Doc:
    """Make a Doc with its kind, or with its expressions as entities."""
    doc = Doc(nlp.vocab, words=[word.text for word in sentence.words])
    if task == "textcat":
        kind = sentence.expressions[0][2]
        doc.cats = {label: float(label == kind) for label in KINDS}
    else:
        doc.ents = [
            spacy.tokens.Span(doc, start, end, label=kind)
            for start, end, kind in sentence.expressions
        ]
    return doc


def write_nltk_data(folder: Path, sentences: list[Sentence]) -> None:
    """Train NLTK's tagger, and write phrases as NLTK's conll2000 corpus has them."""
    from nltk.tag import PerceptronTagger

    examples = [[(word.text, word.tag) for word in one.words] for one in sentences]
    tagger = PerceptronTagger(load=False)
    random.seed(0)  # NLTK shuffles with the global random numbers
    tagger.train(examples, nr_iter=3)
    name = "averaged_perceptron_tagger_eng"
    taggers = folder / "taggers" / name
    taggers.mkdir(parents=True, exist_ok=True)
    parts = ("weights", "tagdict", "classes")
    for part, values in zip(parts, tagger.encode_json_obj(), strict=True):
        # The tags are a set, or a list of one, which has no order of its own.
        values = sorted(values) if part == "classes" else values
        (taggers / f"{name}.{part}.json").write_text(
            json.dumps(values), encoding="utf8"
        )
    corpus = folder / "corpora" / "conll2000"
    corpus.mkdir(parents=True, exist_ok=True)
    blocks = ["\n".join(" ".join(word) for word in one.words) for one in sentences]
    text = "\n\n".join(blocks) + "\n\n"
    for part in ("train", "test"):
        (corpus / f"{part}.txt").write_text(text, encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
