"""Every kind of pipeline: the same on the device as on the CPU, with few transfers."""

import numpy as np
import pytest

from spacy_spanft.explanation import explain_pipe

from .ledger import ours
from .pipelines import ARMS, make, outcome_of

# How much our own code may bring to the device, and how often it may wait for it: in a
# training step, and in the prediction of a batch. What thinc's kernels ask to check the
# lengths that they are given is among the waits; what spaCy does by itself is not.
CEILINGS = {
    "textcat baseline": ((1, 0), (1, 0)),
    "textcat pooler": ((1, 0), (1, 0)),
    "textcat cnn": ((5, 12), (5, 4)),
    "textcat attention": ((5, 16), (5, 12)),
    "textcat max": ((3, 12), (3, 4)),
    "textcat mean": ((2, 10), (2, 4)),
    "textcat mean summary": ((5, 17), (5, 6)),
    "textcat without spans": ((5, 6), (5, 2)),
    "textcat capped": ((5, 12), (5, 4)),
    "textcat random spans": ((5, 12), (5, 4)),
    "textcat multilabel": ((5, 12), (5, 4)),
    "textcat two phases": ((5, 12), (5, 4)),
    "textcat weighted": ((2, 0), (1, 0)),
    # Over spanft_encoder, whose loss is one more.
    "pair baseline": ((1, 1), (1, 0)),
    "pair cnn": ((4, 13), (4, 4)),
    "pair compared": ((6, 23), (6, 8)),
    "score cnn": ((7, 23), (6, 9)),
    "ner baseline": ((0, 3), (0, 3)),
    "ner": ((3, 9), (3, 8)),
    "bilou_ner baseline": ((2, 4), (0, 4)),
    "bilou_ner": ((5, 10), (3, 9)),
    "spancat baseline": ((0, 3), (0, 3)),
    "spancat": ((6, 16), (6, 13)),
}


@pytest.mark.parametrize("arm", ARMS)
def test_pipelines(arm, bert, on_cpu):
    check(arm, outcome_of(arm, bert, 0), on_cpu(arm))


def check(arm, outcome, on_cpu):
    """Raise where the device is not as good as the CPU."""
    assert outcome.weights.keys() == on_cpu.weights.keys()
    for name, weight in on_cpu.weights.items():
        actual = outcome.weights[name]
        np.testing.assert_allclose(actual, weight, 1e-3, 1e-4, err_msg=name)
    for answer, expected in zip(outcome.predictions, on_cpu.predictions, strict=True):
        assert answer[:2] == expected[:2]
        assert answer[2] == pytest.approx(expected[2], abs=1e-4)
    for transfers, ceiling in zip(outcome[2:], CEILINGS[arm], strict=True):
        counts = ours(transfers)
        assert counts[0] <= ceiling[0], f"too many uploads: {counts} {transfers}"
        assert counts[1] <= ceiling[1], f"too many downloads: {counts} {transfers}"


@pytest.mark.parametrize(
    "arm",
    ["textcat cnn", "textcat attention", "textcat without spans", "pair compared"],
)
def test_explanations(arm, bert):
    sides = []
    for gpu_id in (0, -1):
        nlp, texts, _, _ = make(arm, bert, gpu_id)
        sides.append([each.contributions() for each in explain_pipe(nlp, texts)])
    for on_device, theirs in zip(*sides, strict=True):
        for name in ("of_parts", "whole_text", "similarity", "bias"):
            assert isinstance(getattr(on_device, name), np.ndarray)
            pair = getattr(on_device, name), getattr(theirs, name)
            np.testing.assert_allclose(*pair, atol=1e-5)


@pytest.mark.parametrize(
    "arm", ["bilou_ner baseline", "bilou_ner", "spancat baseline", "spancat"]
)
def test_explanations_of_tokens(arm, bert):
    sides = []
    for gpu_id in (0, -1):
        nlp, texts, _, _ = make(arm, bert, gpu_id)
        sides.append([])
        for each in explain_pipe(nlp, texts):
            spans = [each.doc[i : i + 2] for i in range(len(each.doc))]
            sides[-1] += [each.of(each.labels[0], span=span) for span in spans]
    for on_device, theirs in zip(*sides, strict=True):
        assert on_device.parts
        assert on_device.bias == pytest.approx(theirs.bias, abs=1e-5)
        for (part, x), (other, y) in zip(on_device.parts, theirs.parts, strict=True):
            assert part == other
            assert x == pytest.approx(y, abs=1e-5)


def test_it_can_tell_weights_apart(on_cpu):
    """The two steps leave their mark on every weight that they reach."""
    before, after = on_cpu("textcat cnn"), on_cpu("textcat attention")
    encoder = [name for name in before.weights if "encoder" in name]
    assert any(
        not np.allclose(before.weights[n], after.weights[n], 1e-3, 1e-4)
        for n in encoder
    )
