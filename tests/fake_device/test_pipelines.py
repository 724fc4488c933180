"""Every kind of pipeline: the same on the device as on the CPU, with few transfers."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from spacy_spanft.explanation import explain_pipe

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


CLASSIFIERS = ["textcat cnn", "textcat attention", "textcat without spans"]
CLASSIFIERS += ["pair compared"]
LABELERS = ["bilou_ner baseline", "bilou_ner", "spancat baseline", "spancat"]


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


# Mistakes that only a GPU shows, planted in the code: in which module of which arm what
# becomes what, and what the arm fails with then.
BUGS = {
    "indices on the host": (
        *("ml.layers.span_window", "textcat cnn", "upload(model.ops, *rows)", "rows"),
        "too many uploads",
    ),
    "float() in a loop": (
        *("pipeline.text_regressor", "score cnn", "scores[:, 0].tolist()"),
        "[float(score) for score in scores[:, 0]]",
        "too many downloads",
    ),
    "memory that is never written": (
        *("ml.layers.span_window", "textcat cnn", "dW[center] = matmul(d.T, rows)"),
        *("pass", "nan"),
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_shown(name, bert, on_cpu):
    module, arm, right, wrong, message = BUGS[name]
    expected = on_cpu(arm)
    # Whoever has imported a function calls one whose globals are the module's.
    members = vars(import_module(f"spacy_spanft.{module}"))
    source = Path(members["__file__"]).read_text(encoding="utf8")
    assert source.count(right) == 1, "the code has moved on: so must the bug"
    code = compile(source.replace(right, wrong), members["__file__"], "exec")
    before = dict(members)
    try:
        exec(code, members)
        with pytest.raises((AssertionError, TypeError, AttributeError), match=message):
            check(arm, outcome_of(arm, bert, 0), expected)
    finally:
        members.clear()
        members.update(before)
