"""Shards that are counted apart join to the dictionary of one build, or say why not."""

import random

import numpy as np
import pytest

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import DictionaryError, SpanftError
from spacy_spanft.ngrams.counting.settings import Settings
from spacy_spanft.ngrams.shards.build import Where
from spacy_spanft.ngrams.shards.join import join_partials, settings_of_join
from spacy_spanft.ngrams.shards.partial import write_partial
from spacy_spanft.ngrams.shards.source import Part, text_of_files
from spacy_spanft.ngrams.shards.store import save_arrays

from .test_shards import HOW, cut_into, expected, temporary, text  # noqa: F401


def write(path, *texts, part=None, **how):
    source = text_of_files(list(map(str, texts)), part=part)
    return write_partial(path, source, Settings(**how), Where())


def join(paths, **how):
    settings = settings_of_join(paths, **{**HOW, **how})
    with join_partials(paths, settings, Where()) as (counted, sources):
        return NgramDictionary.from_counted(counted, sources, settings)


@pytest.fixture(autouse=True)
def _no_litter(temporary):  # noqa: F811
    pass


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_parts_in_any_order(n_parts, text, expected, tmp_path, monkeypatch):  # noqa: F811
    # A text of some kilobytes is one unit otherwise.
    monkeypatch.setattr("spacy_spanft.ngrams.shards.source._SMALLEST", 100)
    paths = [tmp_path / f"{i}.npz" for i in range(n_parts)]
    with cut_into(3000):
        n_tokens = [
            write(path, text, part=Part(i, n_parts)) for i, path in enumerate(paths, 1)
        ]
    assert min(n_tokens) > sum(n_tokens) / n_parts / 2
    random.Random(0).shuffle(paths)
    assert join(paths).to_bytes() == expected
    assert join(paths, n_process=2).to_bytes() == expected


def test_a_part_may_be_empty(text, expected, tmp_path):  # noqa: F811
    paths = [tmp_path / f"{i}.npz" for i in range(3)]
    n_tokens = [write(path, text, part=Part(i, 3)) for i, path in enumerate(paths, 1)]
    assert 0 in n_tokens
    assert join(paths).to_bytes() == expected


@pytest.mark.parametrize("tokenizer", ["en", "whitespace"])
def test_files_in_their_order(tokenizer, tmp_path):
    texts = [tmp_path / f"{name}.txt" for name in "ba"]
    texts[0].write_text("b a b c. don't\n" * 3)
    texts[1].write_text("a b c d b a b\n" * 2 + "Z, z don't\n")
    shards = [path.with_suffix(".npz") for path in texts]
    for path, shard in zip(texts, shards, strict=True):
        write(shard, path, tokenizer=tokenizer)
    found = join(shards, min_count=2)
    whole = NgramDictionary.from_files(
        texts, tokenizer=tokenizer, **{**HOW, "min_count": 2}
    )
    assert len(whole) > 5
    assert found.to_bytes() == whole.to_bytes()
    assert found.provenance.sources == tuple(map(str, texts))


def test_an_ngram_that_no_shard_has_often_enough(tmp_path):
    """`merge` of two dictionaries would lose it."""
    shards = []
    for name in "ab":
        (tmp_path / name).write_text("new york\n" * 2)
        shards.append(tmp_path / f"{name}.npz")
        write(shards[-1], tmp_path / name)
    assert dict(join(shards, min_count=4)) == {"new york": 4}


def test_parts_that_are_missing_or_twice(text, tmp_path):  # noqa: F811
    paths = [tmp_path / f"{i}.npz" for i in range(3)]
    for i, path in enumerate(paths, 1):
        write(path, text, part=Part(i, 3))
    with pytest.raises(
        DictionaryError, match=r"one of 3 parts.*Missing: 2\. .*once: 1"
    ):
        join([paths[0], paths[2], paths[0]])
    write(paths[1], text, part=Part(2, 4))
    with pytest.raises(DictionaryError, match=r"with parts = 4, but .* with 3"):
        join(paths)


@pytest.mark.parametrize("change", ["folder", "text", "column"])
def test_parts_of_other_text(change, tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_text('{"a": "x y", "b": "z z"}\n' * 9)
    shards = [tmp_path / "1.npz", tmp_path / "2.npz"]

    def count(number, path, column):
        source = text_of_files([str(path)], column=column, part=Part(number, 2))
        write_partial(shards[number - 1], source, Settings(), Where())

    count(1, path, "a")
    if change == "folder":
        (tmp_path / "other").mkdir()
        path = tmp_path / "other" / "text.jsonl"
        path.write_text('{"a": "x y"}\n')
    elif change == "text":
        path.write_text('{"a": "x y"}\n')
    count(2, path, "b" if change == "column" else "a")
    words = {"folder": "files = ", "text": "bytes = ", "column": "column = 'b', but"}
    with pytest.raises(DictionaryError, match=words[change]):
        join(shards)


def test_a_file_that_is_given_twice(text, tmp_path):  # noqa: F811
    write(tmp_path / "a.npz", text)
    (tmp_path / "b.npz").symlink_to(tmp_path / "a.npz")
    with pytest.raises(DictionaryError, match=r"b\.npz' is given twice"):
        join([tmp_path / "a.npz", tmp_path / "b.npz"])


def test_files_that_are_no_shards(text, tmp_path):  # noqa: F811
    with pytest.raises(SpanftError, match="There is no file"):
        join([tmp_path / "no.npz"])
    with pytest.raises(DictionaryError, match=r"it is no \.npz archive\. It is"):
        join([text])


def test_shards_that_do_not_fit(text, tmp_path):  # noqa: F811
    write(tmp_path / "a.npz", text)
    write(tmp_path / "b.npz", text, attr="ORTH")
    with pytest.raises(
        DictionaryError, match=r"b\.npz' was counted with attr = 'ORTH'"
    ):
        join([tmp_path / "a.npz", tmp_path / "b.npz"])
    with pytest.raises(SpanftError, match="paths is empty"):
        join([])


def test_damaged_shards_are_named(text, tmp_path):  # noqa: F811
    path, damaged = tmp_path / "a.npz", tmp_path / "damaged.npz"
    write(path, text)
    whole = path.read_bytes()
    rng = random.Random(0)
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        damaged.write_bytes(whole[:cut])
        with pytest.raises(DictionaryError, match=r"damaged\.npz' cannot be read as"):
            join([damaged])
    expected = join([path]).to_bytes()  # noqa: F811
    for _ in range(20):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        damaged.write_bytes(data)
        found = message = None
        try:
            found = join([damaged]).to_bytes()
        except DictionaryError as error:
            message = str(error)
        # A bit that says nothing, such as one of a date, may be any.
        assert found == expected or "damaged.npz" in message
    damaged.write_bytes(b"PK\3\4 a letter")
    with pytest.raises(DictionaryError, match=r"damaged\.npz' cannot be read as"):
        join([damaged])


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("header", np.frombuffer(b"{", np.uint8), "its 'header' is not JSON"),
        ("header", np.frombuffer(b"[]", np.uint8), "its header has a wrong"),
        (
            "header",
            np.frombuffer(b'{"format_version": 2}', np.uint8),
            "its format is 2",
        ),
        ("counts", np.ones(3, np.int64), "its words and their counts"),
        ("counts", np.ones(3), "its words and their counts"),
        ("text", np.full(8, 255, np.uint8), "its words and their counts"),
        (
            "stream-0",
            np.full(8, 10**6, np.uint32),
            "its stream-0 holds what is not a word",
        ),
        ("stream-0", np.zeros(8), "its stream-0 holds what is not a word"),
        ("stream-0", None, "it has no 'stream-0'"),
    ],
)
def test_shards_that_say_what_cannot_be(name, array, message, text, tmp_path):  # noqa: F811
    path = tmp_path / "a.npz"
    write(path, text)
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    arrays.pop(name)
    if array is not None:
        arrays[name] = array
    with open(path, "wb") as file:
        save_arrays(file, arrays.items())
    with pytest.raises(DictionaryError, match=message):
        join([path])
