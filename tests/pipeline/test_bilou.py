"""BILUO tags: the best sequence against all sequences, and the component's contract."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml import bilou

from ..ml.test_textcat import TOKENS
from ..tiny import make_pipeline, train

TRAIN = [
    ("United Airlines Holding flew to New York .", [(0, 23, "ORG"), (32, 40, "LOC")]),
    ("", []),
    ("She met Bob  in Paris !", [(8, 11, "PER"), (16, 21, "LOC")]),
    ("nothing is here", []),
]
TEXTS = [text for text, _ in TRAIN]


def is_valid(tags, names, allowed, offset):
    label = None
    for i, tag in enumerate(tags, offset):
        kind, _, own = names[tag].partition("-")
        goes_on = kind in ("I", "L")
        if goes_on != (label is not None) or (goes_on and own != label):
            return False
        if kind != "O" and not allowed.inside[i]:
            return False
        if kind in ("B", "L", "U") and not allowed.edge[i]:
            return False
        if goes_on and not allowed.joined[i]:
            return False
        label = own if kind in ("B", "I") else None
    return label is None


def valid_sequences(names, scores, allowed, start, length):
    for tags in itertools.product(range(len(names)), repeat=length):
        if is_valid(tags, names, allowed, start):
            yield tags, sum(scores[start + i, tag] for i, tag in enumerate(tags))


@given(
    n_labels=st.integers(1, 2),
    lengths=st.lists(st.integers(0, 3), min_size=1, max_size=5),
    seed=st.integers(0, 9999),
    strict=st.booleans(),
)
def test_tags_and_probabilities_are_those_of_all_sequences(
    n_labels, lengths, seed, strict
):
    random = np.random.default_rng(seed)
    names = bilou.tag_names("xy"[:n_labels])
    shares = (0.9, 0.8, 0.8) if strict else (1, 1, 1)
    allowed = bilou.Allowed(*(random.random(sum(lengths)) < share for share in shares))
    scores = random.normal(size=(sum(lengths), len(names)))
    tags, expected, sums = bilou.best_tags(scores, lengths, allowed), [], []
    for i, length in enumerate(lengths):
        start = sum(lengths[:i])
        sequences = list(valid_sequences(names, scores, allowed, start, length))
        best, _ = max(sequences, key=lambda pair: pair[1])
        expected.extend(best)
        of_doc = {}
        for sequence, score in sequences:
            for entity in [*bilou.spans_of_tags(np.array(sequence, np.int64)), None]:
                of_doc[entity] = of_doc.get(entity, 0.0) + np.exp(score)
        sums.append(of_doc)
    assert tags.tolist() == expected
    entities = [[entity for entity in of_doc if entity] for of_doc in sums]
    probabilities = bilou.entity_probabilities(scores, lengths, allowed, entities)
    for i, of_doc in enumerate(sums):
        shares = [of_doc[entity] / of_doc[None] for entity in entities[i]]
        np.testing.assert_allclose(probabilities[i], shares, atol=1e-12)


def test_entities_of_long_docs_keep_their_probabilities():
    """The sums over a thousand tokens would be zero if they were not logarithms."""
    names = bilou.tag_names(["x"])
    shares = np.full((2000, len(names)), 1e-3)
    shares[:, 0] = 1.0
    shares[700:703, 1:4] = np.eye(3)
    scores = np.log(np.maximum(shares, 1e-300))
    allowed = bilou.Allowed(*np.ones((3, 2000), np.bool_))
    actual = bilou.entity_probabilities(scores, [2000], allowed, [[(700, 703, 0)]])[0]
    # O at each of the three is as probable as B, I and L, and nothing else is there.
    np.testing.assert_allclose(actual, [0.5], atol=0.01)


def make(**settings):
    model = {"@architectures": "spacy-spanft.BilouTagger.v1", "tok2vec": TOKENS}
    nlp = make_pipeline({"bilou_ner": {"model": model, **settings}})
    return nlp, nlp.get_pipe("bilou_ner")


def examples_for(nlp, train=TRAIN):
    docs = [(nlp.make_doc(text), entities) for text, entities in train]
    return [Example.from_dict(doc, {"entities": ents}) for doc, ents in docs]


def learned(nlp, examples):
    return train(nlp, examples, 30, annotates=(), rate=0.01)


@pytest.fixture(scope="module")
def trained():
    nlp, _ = make()
    return learned(nlp, examples_for(nlp))


def ents(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_what_is_in_doc_ents_stays(trained):
    ner = trained.get_pipe("bilou_ner")
    doc = trained.make_doc("Bob flew to New York .")
    doc.ents = [Span(doc, 4, 5, "X")]
    actual = ents(ner(doc))
    assert [label for text, label in actual if "York" in text] == ["X"]
    doc = trained.make_doc(TRAIN[0][0])
    doc.set_ents([], blocked=[doc[0:3]], default="missing")
    for _ in range(2):
        assert ents(ner(doc)) == [("New York", "LOC")]
        assert doc[0].ent_iob_ == "B"  # still blocked
        assert doc[3].ent_iob_ == "O"  # known to be outside now


def test_sentences_are_not_crossed(trained):
    words = TRAIN[0][0].split()
    whole = Doc(trained.vocab, words=words)
    cut = Doc(trained.vocab, words=words, sent_starts=[i in (0, 2) for i in range(8)])
    ner = trained.get_pipe("bilou_ner")
    assert ("United Airlines Holding", "ORG") in ents(ner(whole))
    for ent in ner(cut).ents:
        assert ent.start >= 2 or ent.end <= 2


def test_loss_and_gradient_are_pytorchs():
    nlp, ner = make(class_weights={"ORG": 3.0, "O": 0.5}, label_smoothing=0.1)
    examples = examples_for(nlp)
    nlp.initialize(lambda: examples)
    assert ner.labels == ("LOC", "ORG", "PER")
    # Tokens of which nothing is known do not count.
    examples[3].reference.set_ents([], missing=[examples[3].reference[1:3]])
    lengths = [len(eg.predicted) for eg in examples]
    logits = np.random.default_rng(0).normal(size=(sum(lengths), 13))
    rows = torch.tensor(logits, requires_grad=True)
    shares = np.split(rows.softmax(dim=1).detach().numpy(), np.cumsum(lengths)[:-1])
    loss, gradient = ner.get_loss(examples, shares)
    names = ["O", *(f"{kind}-{label}" for label in ner.labels for kind in "BILU"), None]
    gold = [names.index(tag) for eg in examples for tag in eg.get_aligned_ner()]
    assert gold.count(13) == 2
    weights = torch.tensor([0.5, *[1.0] * 4, *[3.0] * 4, *[1.0] * 4]).double()
    expected = torch.nn.functional.cross_entropy(
        *(rows, torch.tensor(gold), weights),
        **{"ignore_index": 13, "reduction": "sum", "label_smoothing": 0.1},
    )
    expected.backward()
    assert loss == pytest.approx(expected.item(), rel=1e-6)
    np.testing.assert_allclose(np.concatenate(gradient), rows.grad, atol=1e-6)


def test_predictions_of_untrained_pipelines_are_valid():
    """No entity begins or ends with white space, whatever the weights are."""
    random = np.random.default_rng(0)
    nlp, ner = make()
    nlp.initialize(lambda: examples_for(nlp))
    output = ner.model.get_ref("output_layer")
    for name in output.param_names:
        weights = random.normal(size=output.get_param(name).shape)
        output.set_param(name, weights.astype("f"))
    pieces = ["a", "New York", " ", "  ", "\n", "\t ", ". ", "\u00a0", "Ünïc ", "9", ""]
    texts = ["".join(random.choice(pieces, size=n)) for n in range(60)]
    ents = [ent for doc in nlp.pipe(texts) for ent in doc.ents]
    assert len(ents) > 20
    assert not any(ent[0].is_space or ent[-1].is_space for ent in ents)


def test_entities_that_cannot_be_found_are_not_learnt():
    """One ends with white space: what is around it is learned all the same."""
    broken = ("in New York \n is", [(3, 14, "LOC")])
    nlp, ner = make()
    examples = examples_for(nlp, [broken, ("in Bonn", [(3, 7, "LOC")]), *TRAIN])
    with pytest.warns(UserWarning, match=r"^1 entities .* first is 'New York"):
        learned(nlp, examples)
    truths = ner._truths(examples[:2]).tolist()
    assert truths == [0, -1, -1, -1, 0, 0, 4]
    assert ents(nlp("in Bonn")) == [("Bonn", "LOC")]
    assert "is" not in str(ents(nlp(broken[0])))


def test_entities_that_overlap_those_in_doc_ents_are_not_learnt():
    nlp, ner = make()
    doc = nlp.make_doc("walk in New York City")
    gold, seen = doc.copy(), doc.copy()
    gold.ents = [Span(gold, 2, 5, "LOC")]
    seen.ents = [Span(seen, 2, 4, "ORG")]
    nlp.initialize(lambda: [Example(doc, gold)])
    assert ner._truths([Example(seen, gold)]).tolist() == [0, 0, -1, -1, -1]


def test_wrong_labels(trained):
    nlp, _ = make(class_weights={"GPE": 2.0})
    with pytest.raises(SpanftError, match="no label 'GPE'"):
        nlp.initialize(lambda: examples_for(nlp))
    nlp, _ = make()
    with pytest.raises(TypeError):
        nlp.get_pipe("bilou_ner").add_label(3)
    assert 3 not in nlp.get_pipe("bilou_ner").labels
    with pytest.raises(ValueError, match="Labels for component 'bilou_ner' not init"):
        nlp.initialize(lambda: examples_for(nlp, [("nothing", [])]))
    examples = examples_for(trained, [("Bob", [(0, 3, "HERO")])])
    with pytest.raises(SpanftError, match=r"no label 'HERO'.*'LOC', 'ORG', 'PER'"):
        trained.get_pipe("bilou_ner").update(examples)


def test_entities_have_their_probabilities_and_may_be_left_out_by_them(trained):
    nlp, ner = make(scores_key="probable")
    nlp.from_bytes(trained.to_bytes())
    everything = list(nlp.pipe(TEXTS))
    for doc in everything:
        entities, group = [*doc.ents], doc.spans["probable"]
        scores = group.attrs["scores"]
        assert [*group] == entities
        assert all(0.5 < score <= 1 for score in scores)
        again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
        assert again.spans["probable"].attrs["scores"] == scores
        doc = ner(doc)  # a second run keeps them
        assert [*doc.ents] == [*doc.spans["probable"]] == entities
        assert doc.spans["probable"].attrs["scores"] == scores
    assert "probable" not in trained(TEXTS[0]).spans
    groups = [doc.spans["probable"] for doc in everything]
    threshold = sorted(score for group in groups for score in group.attrs["scores"])[2]
    ner.threshold, ner.scores_key = threshold, None
    for doc, group in zip(nlp.pipe(TEXTS), groups, strict=True):
        pairs = zip(group, group.attrs["scores"], strict=True)
        expected = [(e.start, e.end) for e, score in pairs if score >= threshold]
        assert [(ent.start, ent.end) for ent in doc.ents] == expected
        assert not doc.spans
