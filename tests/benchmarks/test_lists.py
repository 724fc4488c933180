"""Lists as features: matches are greedy, random lists match as often, and it learns."""

from collections import Counter

import pytest

from benchmarks import lists

REAL = {("new", "york"): "CITY", ("new", "york", "city"): "CITY", ("ann",): "FIRST"}


def test_the_longest_matches_from_the_left_are_tagged():
    words = ("ann", "left", "new", "york", "city", "new", "york", "new")
    expected = ["UFIRST", "-", "BCITY", "ICITY", "LCITY", "BCITY", "LCITY", "-"]
    assert lists.tags_of(words, REAL, 3) == expected
    assert lists.tags_of(words, {}, 0) == ["-"] * 8


@pytest.mark.parametrize("seed", range(9))
def test_a_random_list_matches_as_often_and_nothing_of_the_real_one(seed):
    texts = [("ann", "saw", "new", "york"), ("bob", "saw", "old", "york"), ("ann",)]
    found = lists.random_list(REAL, texts, chinese=False, seed=seed)
    assert not found.keys() & REAL.keys()
    counts = Counter(w for text in texts for w in text)
    [single] = (phrase for phrase in found if len(phrase) == 1)
    assert counts[single[0]] == 2
    assert Counter(map(len, found)) == {1: 1, 2: 1}
    assert sorted(found.values()) == ["CITY", "FIRST"]


@pytest.mark.parametrize("arm", lists.ARMS)
def test_an_arm_is_trained(arm, tmp_path, monkeypatch):
    monkeypatch.setattr(lists, "real_list", lambda *_: {("united", "states"): "X"})
    for file in lists.TASKS["WNUT17"].files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("the\tO\nunited\tB-person\nstates\tI-person\nx\tO\n\n" * 20)
    run = {"task": "WNUT17", "arm": arm, "seed": 0}
    assert lists.train(run, tmp_path, tmp_path)["ents_f"] == 100.0
