"""A part of a corpus is held out: of each label as much, always the same texts."""

from collections import Counter

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.training.checks import check_config
from spacy_spanft.training.readers.held_out import held_out_corpus

NLP = spacy.blank("en")


def of_labels(labels):
    """Make examples of texts with a label each."""
    examples = []
    for i, label in enumerate(labels):
        doc = NLP(f"text {i}")
        doc.cats = {other: float(other == label) for other in set(labels)}
        examples.append(Example(NLP(doc.text), doc))
    return examples


def parts(examples, **settings):
    """Return the texts of both parts."""
    texts = []
    for part in ("train", "dev"):
        read = held_out_corpus(lambda nlp: iter(examples), part, **settings)
        texts.append([example.reference.text for example in read(NLP)])
    return texts


def test_each_label_is_in_both_parts():
    examples = of_labels("a" * 70 + "b" * 25 + "c" * 5)
    train, dev = parts(examples)
    assert [len(train), len(dev)] == [80, 20]
    assert not {*train} & {*dev}
    labels = {
        e.reference.text: max(e.reference.cats, key=e.reference.cats.get)
        for e in examples
    }
    assert Counter(labels[text] for text in dev) == {"a": 14, "b": 5, "c": 1}
    assert parts(examples) == [train, dev]
    assert parts(examples, seed=1)[1] != dev
    assert len(parts(examples, share=0.4)[1]) == 40


def test_a_label_of_two_texts_is_in_both_parts_and_of_one_in_train():
    train, dev = parts(of_labels("aaab" + "cc"))
    assert len(dev) == 2
    assert "text 3" in train
    assert len(parts(of_labels("abc"))[1]) == 1


def test_what_is_there_often_is_left_to_training():
    """A share of the rows is held out, and not of the distinct texts."""
    examples = of_labels("a" * 30 + "b" * 30)
    often = NLP("again")
    often.cats = {"a": 1.0, "b": 0.0}
    examples += [Example(NLP(often.text), often)] * 40
    for seed in range(20):
        train, dev = parts(examples, seed=seed)
        assert len(train) + len(dev) == 100
        assert train.count("again") == 40
        assert len(dev) == 20
    # Pairs of rows are held out together, as near to the share as they can be.
    train, dev = parts([example for example in of_labels("a" * 23) for _ in range(2)])
    assert not {*train} & {*dev}
    assert len(dev) in (8, 10)
    twice, rare = examples[-1], of_labels("a")
    train, dev = parts([twice] * 9 + rare * 2)
    assert dev == ["text 0"] * 2


def test_scores_are_spread():
    examples = of_labels("a" * 40)
    for i, example in enumerate(examples):
        example.reference.cats = {"score": i / 10}
    _, dev = parts(examples)
    quarters = Counter(int(text.split()[1]) // 10 for text in dev)
    assert quarters == {0: 2, 1: 2, 2: 2, 3: 2}


def test_entities_by_the_rarest():
    examples = []
    for i in range(20):
        doc = Doc(NLP.vocab, ["in", "Paris", f"{i}"])
        doc.ents = [Span(doc, 1, 2, "LOC")]
        if i < 5:
            doc.ents = [*doc.ents, Span(doc, 0, 1, "RARE")]
        examples.append(Example(doc.copy(), doc))
    _, dev = parts(examples)
    assert len(dev) == 4
    assert sum(int(text.split()[2]) < 5 for text in dev) == 1


def test_too_few_texts():
    examples = of_labels("a") * 3
    with pytest.raises(SpanftError, match=r"has 1 \(3 rows\)"):
        parts(examples)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("dev", {"part": "train"}),
        ("train", {"part": "dev"}),
        ("dev", {"share": 0.5}),
        ("dev", {"seed": 5}),
    ],
)
def test_parts_that_overlap(name, change):
    reader = "spacy-spanft.HeldOutCorpus.v1"
    corpora = {part: {"@readers": reader, "part": part} for part in ("train", "dev")}
    check_config(NLP, {"corpora": corpora})
    check_config(NLP, {"corpora": {**corpora, name: {"@readers": "x"}}})
    corpora[name] |= change
    with pytest.raises(SpanftError, match="texts of one are in the other"):
        check_config(NLP, {"corpora": corpora})


@pytest.mark.parametrize("share", [0, 1, -0.2, float("nan")])
def test_a_share_that_cannot_be(share):
    with pytest.raises(SpanftError, match=r"share is .*, but must be a number above 0"):
        held_out_corpus(lambda nlp: iter([]), "dev", share)
