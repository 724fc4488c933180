"""The tables of few labels: differences paired by seed, means and intervals."""

import pytest

from benchmarks.numbers import difference, interval, mean_over, minus, spread


def test_differences_are_paired_by_seed():
    gained = minus({0: 2.0, 1: 4.0, 2: 9.0}, {0: 1.0, 1: 3.0})
    assert gained == {0: 1.0, 1: 1.0}
    assert difference(gained) == "+1.0 (+1.0 to +1.0, n = 2)"
    assert difference({3: -0.5}) == "−0.5 (n = 1)"
    assert difference({}) == "-"


def test_intervals_are_those_of_t():
    assert interval([0.0, 2.0]) == pytest.approx((1 - 12.706, 1 + 12.706), abs=1e-3)
    half = 4.303 / 3**0.5
    assert interval([1.0, 0.0, 2.0]) == pytest.approx((1 - half, 1 + half), abs=1e-3)
    assert spread({0: 80.0, 1: 82.0}) == "81.0 ± 1.4, n = 2"


def test_means_are_of_the_seeds_that_all_have():
    assert mean_over([{0: 1.0, 1: 2.0}, {1: 4.0, 2: 9.0}]) == {1: 3.0}
    assert mean_over([{0: 1.0}, {1: 4.0}]) == mean_over([]) == {}
