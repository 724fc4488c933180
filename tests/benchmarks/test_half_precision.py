"""Pipelines are scored in both precisions."""

import pytest

from benchmarks import half_precision
from spacy_spanft.ml.encoder import hf_encoder


@pytest.mark.parametrize("task", ["SST-2", "WNUT17"])
def test_a_run_is_scored_twice(task, data, encoder, monkeypatch):
    monkeypatch.setattr(half_precision, "SIZE", 8)
    used = []
    monkeypatch.setattr(hf_encoder, "cpu_has_bf16", lambda: used.append(True))
    run = {"task": task, "seed": 0, "trained_in": "single"}
    result = half_precision.do(run, data, encoder)
    # The fake CPU has no bf16, but was asked.
    assert used
    assert result["single"] == result["bf16"]
