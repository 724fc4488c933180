"""How much memory pre-training needs, as it is said before it begins."""

import pytest
import torch
from transformers import BertConfig

from spacy_spanft.errors import PretrainingError
from spacy_spanft.pretraining import Settings, memory
from spacy_spanft.pretraining.memory import check_memory, memory_needed, memory_of

BASE = BertConfig()
N_WEIGHTS = 110_000_000


def needed(device="cpu", length=512, **settings):
    """Estimate the gigabytes for BERT."""
    return memory_needed(BASE, N_WEIGHTS, length, Settings(**settings), device) / 1e9


def test_the_default_fits_into_eight():
    assert 3 < needed() < 7
    assert needed(batch_size=32) > 20
    # The same number of sequences a step as in a single batch of 32.
    assert Settings().batch_size * Settings().accumulate == 32


def test_what_needs_less():
    assert needed(length=128) < needed(length=256) < needed()
    assert needed(sbo=False) < needed()
    assert needed("cuda", precision="bf16") < needed("cuda")


@pytest.mark.parametrize(
    ("batch_size", "measured"),
    # Three layers of BERT, 512 tokens, without SBO: what a process had more at its peak
    # than before it had weights.
    [(2, 1.29), (8, 2.54)],
)
def test_estimate_is_near_what_was_measured(batch_size, measured):
    three = BertConfig(num_hidden_layers=3)
    settings = Settings(batch_size=batch_size, sbo=False)
    found = memory_needed(three, 45_723_450, 512, settings, "cpu") / 1e9
    assert found == pytest.approx(measured, rel=0.15)


def test_it_is_said(capsys, monkeypatch):
    monkeypatch.setattr(memory, "memory_of", lambda device: 8 * 10**9)
    check_memory(BASE, N_WEIGHTS, 512, Settings(), "cpu")
    said = capsys.readouterr().err
    assert "(4 sequences of 512 tokens at once) of 8.0 GB." in said
    monkeypatch.setattr(memory, "memory_of", lambda device: None)
    check_memory(BASE, N_WEIGHTS, 512, Settings(), "mps")
    assert "of 512 tokens at once).\n" in capsys.readouterr().err


def test_it_is_warned_of_and_then_refused(monkeypatch):
    monkeypatch.setattr(memory, "memory_of", lambda device: 7 * 10**9)
    with pytest.warns(
        UserWarning, match=r"8 seq.* there are 7\.0 GB: it may be killed"
    ):
        check_memory(BASE, N_WEIGHTS, 512, Settings(batch_size=8), "cpu")
    with pytest.raises(PretrainingError, match=r"32 sequences .* there are 7\.0 GB"):
        check_memory(BASE, N_WEIGHTS, 512, Settings(batch_size=32), "cpu")


def test_what_there_is(tmp_path, monkeypatch):
    whole = memory_of("cpu")
    assert whole is None or whole > 10**8
    assert memory_of("something") is None
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_CGROUP", limit)
    limit.write_text("max\n")
    without = memory_of("cpu")
    limit.write_text("1000000\n")
    assert memory_of("cpu") == (None if without is None else 1_000_000)
    if torch.cuda.is_available():
        assert memory_of("cuda") > 10**9
