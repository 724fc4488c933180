"""Every kind of pipeline: the same on the device as on the CPU, with few transfers."""

import numpy as np
import pytest

from spacy_spanft.explanation import explain_pipe
from spacy_spanft.ml.layers import span_window

from .device import ours
from .pipelines import ARMS, make, outcome_of


@pytest.mark.parametrize("arm", ARMS)
def test_the_device_computes_the_same_with_few_transfers(arm, bert, on_cpu):
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
    for transfers, ceiling in zip(outcome[2:], ARMS[arm][2:], strict=True):
        counts = ours(transfers)
        assert counts[0] <= ceiling[0], f"too many uploads: {counts} {transfers}"
        assert counts[1] <= ceiling[1], f"too many downloads: {counts} {transfers}"


CLASSIFIERS = ["textcat cnn", "textcat attention", "pair compared"]
LABELERS = ["bilou_ner", "spancat"]


@pytest.mark.parametrize("arm", CLASSIFIERS + LABELERS)
def test_explanations_are_the_same(arm, bert):
    sides = []
    for gpu_id in (0, -1):
        nlp, texts, _, _ = make(arm, bert, gpu_id)
        sides.append([])
        for each in explain_pipe(nlp, texts):
            if arm in CLASSIFIERS:
                made = each.contributions()
                names = ("of_parts", "whole_text", "similarity", "bias")
                sides[-1] += [(None, getattr(made, name)) for name in names]
                continue
            for i in range(len(each.doc)):
                reasons = each.of(each.labels[0], span=each.doc[i : i + 2])
                parts, added = zip(*reasons.parts, strict=True)
                sides[-1].append((parts, np.array([*added, reasons.bias])))
    for (parts, values), (expected_parts, expected) in zip(*sides, strict=True):
        assert isinstance(values, np.ndarray)
        assert parts == expected_parts
        np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-5)


def test_a_planted_bug_is_shown(bert, on_cpu, monkeypatch):
    """Of indices that stay on the host, each is uploaded when it is used."""
    monkeypatch.setattr(span_window, "upload", lambda ops, *rows: rows)
    with pytest.raises(AssertionError, match="too many uploads"):
        check("textcat cnn", outcome_of("textcat cnn", bert, 0), on_cpu("textcat cnn"))
