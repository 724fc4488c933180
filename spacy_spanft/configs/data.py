"""What is in the data that a config reads, and what may be wrong with it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, NamedTuple

import spacy
from confection import Config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus
from spacy.util import registry

from ..errors import Errors, SpanftError
from ..errors.shortening import counted, listed
from ..training.checks import similar_labels
from ..training.gold import cats_in, entities_in, has_score, spans_in, tags_in
from ..training.readers.columns import SCORE
from .bases import REGRESSOR, TASKS
from .sources import COLUMNS, DOCBINS

_N_SHOWN = 10


class Seen(NamedTuple):
    """What is in the data.

    n_words (list[int]): How many words each text has.
    labels (Counter[str]): How many texts, entities or spans have each label.
    scores (list[float]): The score of each text, if they have any.
    texts (dict[str, set[tuple[str, ...]]]): The texts, each with the labels that it has
        wherever it stands.
    n_empty (int): How many texts are empty, or white space alone.
    n_several (int): How many texts have several labels, or none.
    n_without (int): How many texts have none.
    """

    n_words: list[int]
    labels: Counter[str]
    scores: list[float]
    texts: dict[str, set[tuple[str, ...]]]
    n_empty: int
    n_several: int
    n_without: int


def look(config: Config, task: str, part: str) -> Seen:
    """Read the data of a config once.

    config (Config): The config, with its variables as they are.
    task (str): The name of one of TASKS.
    part (str): "train" or "dev".
    RETURNS (Seen): What is there.
    """
    plain = config.interpolate()
    nlp = tokenizer_of(plain)
    corpus = corpus_of(plain["corpora"][part])
    seen = Seen([], Counter(), [], {}, 0, 0, 0)
    n_empty = n_several = n_without = 0
    for example in corpus(nlp):
        doc = example.reference
        seen.n_words.append(len(doc))
        n_empty += not doc.text.strip()
        known = seen.texts.setdefault(doc.text, set())
        if TASKS[task].component == REGRESSOR:
            if not has_score(doc):
                path = plain["paths"][part] or plain["paths"]["train"]
                raise SpanftError(Errors.NO_SCORES.format(path=path, task=task))
            seen.scores.append(doc.cats[SCORE])
            continue
        labels = list(_labels(doc, task))
        known.add(tuple(labels))
        seen.labels.update(labels)
        n_several += len(labels) != 1
        n_without += not labels
    if not seen.n_words:
        source = repr(plain["paths"][part] or plain["paths"]["train"])
        raise SpanftError(Errors.NO_ROWS.format(source=source))
    return seen._replace(n_empty=n_empty, n_several=n_several, n_without=n_without)


def tokenizer_of(config: Config) -> Language:
    """Make an empty pipeline whose tokenizer is that of a config.

    config (Config): The config, its variables filled in.
    """
    tokenizer = {k: v for k, v in config["nlp"].items() if k == "tokenizer"}
    return spacy.blank(config["nlp"]["lang"], config={"nlp": tokenizer})


def corpus_of(block: dict[str, Any]) -> Any:
    """Make a corpus of a block that spaCy has not filled in yet."""
    if block["@readers"] == DOCBINS:
        return Corpus(block["path"])  # which has settings that nobody writes
    return registry.resolve({"corpus": block})["corpus"]


def _labels(doc: Doc, task: str) -> Iterator[str]:
    if task in COLUMNS:
        return cats_in(doc)
    return {"tagger": tags_in, "spancat": spans_in}.get(task, entities_in)(doc)


def told(path: str, seen: Seen) -> str:
    """Say what is in the data.

    path (str): The file.
    seen (Seen): What is there.
    RETURNS (str): Such as "train.csv: 40 texts of 3 to 9 words (median 5); 30 good".
    """
    words = seen.n_words
    if min(words) == max(words):
        lengths = counted(min(words), "word")
    else:
        lengths = f"{min(words):,} to {max(words):,} words (median {median(words):.0f})"
    head = f"{path}: {counted(len(words), 'text')} of {lengths}"
    if seen.scores:
        return f"{head}; scores from {min(seen.scores):g} to {max(seen.scores):g}"
    if not seen.labels:
        return head
    most = seen.labels.most_common(_N_SHOWN)
    total = seen.labels.total()
    shares = ", ".join(f"{label}: {k:,} ({k / total:.0%})" for label, k in most)
    n_more = len(seen.labels) - len(most)
    more = f" and {counted(n_more, 'more label')}" if n_more else ""
    without = f"; texts without any: {seen.n_without:,}" if seen.n_without else ""
    return f"{head}; {shares}{more}{without}"


def concerns(
    task: str, files: Mapping[str, str], seen: Mapping[str, Seen]
) -> list[str]:
    """Say what may spoil a training, or its evaluation.

    task (str): The name of one of TASKS.
    files (Mapping[str, str]): What "train" and "dev" are called.
    seen (Mapping[str, Seen]): What is in them.
    RETURNS (list[str]): Sentences.
    """
    found = []
    for part, one in seen.items():
        if n_empty := one.n_empty:
            found.append(f"{files[part]} has empty texts: {n_empty:,}.")
        if TASKS[task].component == "textcat" and one.labels and one.n_several:
            place = {"path": files[part], "n": one.n_several}
            raise SpanftError(Errors.SEVERAL_LABELS.format(**place))
    train = seen["train"]
    if alike := similar_labels(task, sorted(train.labels)):
        found.append(alike)
    if n_twice := sum(len(labels) > 1 for labels in train.texts.values()):
        found.append(f"Texts of {files['train']} with different labels: {n_twice:,}.")
    if len(set(train.scores)) == 1:
        found.append(f"All scores of {files['train']} are {train.scores[0]:g}.")
    if len(seen) == 2:
        found += _between(files, train, seen["dev"])
    return found


def _between(files: Mapping[str, str], train: Seen, dev: Seen) -> Iterator[str]:
    """Say what is wrong with the dev data beside the training data."""
    if files["train"] == files["dev"]:
        yield "The dev data is the training data; scores will be inflated."
    elif both := len(train.texts.keys() & dev.texts.keys() - {""}):
        where = f"{files['dev']} that also occur in {files['train']}"
        yield f"Texts of {where}: {both:,}; scores will be inflated."
    if alone := sorted(dev.labels.keys() - train.labels.keys()):
        where = f"in {files['dev']}, so that nothing learns them"
        yield f"Labels that occur only {where}: {listed(alone)}."
    if missing := sorted(train.labels.keys() - dev.labels.keys()):
        lacks = (
            f"{files['dev']} lacks, so that no score tells how well they are learned"
        )
        yield f"Labels that {lacks}: {listed(missing)}."
