"""spanft_encoder as people use a component: copied, updated by hand, frozen."""

import copy
import pickle

import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Adam

from ..tiny import OWN_LISTENER, encoder_config
from .test_encoder import (
    HEADS,
    TEXTS,
    answers,
    assert_close,
    examples_of,
    make,
    module_of,
)

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda nlp: pickle.loads(pickle.dumps(nlp))]
)
def test_copies_of_a_pipeline_that_was_used(bert, copied):
    """What it keeps of Docs is of no use to a copy, whose Docs are others."""
    nlp = make(bert)
    encoder = nlp.get_pipe("transformer")
    module_of(nlp).requires_grad_(False)
    encoder.update(examples_of(nlp))  # what is frozen remembers its texts
    expected = answers(nlp.pipe(TEXTS))
    other = copied(nlp)
    for _ in range(3):
        assert_close(answers(other.pipe(TEXTS, batch_size=2)), expected)


def test_a_doc_that_is_retokenized(bert):
    """Its rows are computed again, also where it has as many tokens as before."""
    nlp = make(bert)
    encoder = nlp.get_pipe("transformer")
    (doc,) = encoder.pipe([nlp.make_doc("New York City today")])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[3], ["to", "day"], [doc[2], doc[2]])
    fresh = Doc(
        nlp.vocab, [token.text for token in doc], [bool(t.whitespace_) for t in doc]
    )
    (actual,), (expected,) = (encoder.rows_of([one]).encodings for one in (doc, fresh))
    assert actual.n_rows.tolist() == expected.n_rows.tolist()


def test_an_update_with_an_optimizer(bert):
    """nlp.update steps before listeners have learned; the encoder's step waits."""
    moved = {}
    for how in ("at once", "by the loop"):
        nlp = make(bert)
        module = module_of(nlp)
        sgd, losses = Adam(0.01), []
        for _ in range(3):
            actual = nlp.update(
                examples_of(nlp),
                sgd=sgd if how == "at once" else False,
                annotates=["span_segmenter"],
            )
            losses.append(actual["textcat"])
            if how != "at once":
                for name in ("transformer", *HEADS):
                    nlp.get_pipe(name).finish_update(sgd)
        moved[how] = losses, [weight.detach().clone() for weight in module.parameters()]
    (losses, weights), (expected, others) = moved.values()
    assert losses == pytest.approx(expected, rel=1e-4)
    assert len(set(losses)) == 3
    names = [name for name, _ in module.named_parameters()]
    for name, one, other in zip(names, weights, others, strict=True):
        if not name.endswith("key.bias"):  # which has no gradient but rounding
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


def test_frozen_from_the_beginning(bert):
    """spaCy initializes nothing that is frozen; the encoder is loaded all the same."""
    nlp = spacy.blank("en")
    config = encoder_config(bert)
    nlp.add_pipe(config.pop("factory"), "transformer", config=config)
    model = {**HEADS["tagger"], "tok2vec": OWN_LISTENER}
    nlp.add_pipe("tagger", config={"model": model})
    nlp = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    examples = examples_of(nlp)
    with nlp.select_pipes(disable=["transformer"]):
        sgd = nlp.initialize(lambda: examples)
    module = module_of(nlp)
    before = [weight.detach().clone() for weight in module.parameters()]
    losses = [
        nlp.update(examples_of(nlp), sgd=sgd, exclude=["transformer"])["tagger"]
        for _ in range(9)
    ]
    assert losses[-1] < losses[0]
    for one, other in zip(before, module.parameters(), strict=True):
        assert torch.equal(one, other)
    assert [token.tag_ for token in nlp("New York")]
