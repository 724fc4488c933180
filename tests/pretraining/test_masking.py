"""Span masking: what is drawn, which tokens are words, and the data collator."""

import copy
import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, BertTokenizer

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import SpanftError
from spacy_spanft.pretraining import SpanMaskingCollator
from spacy_spanft.pretraining.collator import (
    IGNORED,
    NO_WORD,
    tells_words,
    words_in,
    words_of,
)
from spacy_spanft.pretraining.collator import _draw_fates as draw_fates
from spacy_spanft.pretraining.masking import (
    LONGEST,
    choose_ngrams,
    choose_spans,
    choose_words,
    span_lengths,
)
from spacy_spanft.pretraining.masking import _arrange as arrange
from spacy_spanft.pretraining.segments import Packer

from ..tiny import save_encoder

TEXT = "The unbelievable film, it wasn't very  good: New York walks (again)!"
FAMILIES = ("bert", "roberta", "albert")


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("tokenizers"), {}
    for name in FAMILIES:
        save_encoder(folder / name, name, max_length=128)
        made[name] = AutoTokenizer.from_pretrained(folder / name)
    return made


@pytest.fixture(scope="module")
def bert(tokenizers):
    return tokenizers["bert"]


@pytest.fixture(scope="module", params=FAMILIES)
def tokenizer(tokenizers, request):
    return tokenizers[request.param]


# The clipped geometric distribution.
TRUE_LENGTHS = np.array([0.8**k for k in range(LONGEST)])
TRUE_LENGTHS /= TRUE_LENGTHS.sum()


def assert_mean(values, expected):
    """Assert a mean to four standard errors."""
    error = 4 * np.std(values) / len(values) ** 0.5
    assert np.mean(values) == pytest.approx(expected, abs=error)


def drawn_spans(n_words):
    random = np.random.default_rng(0)
    return [choose_spans(n_words, 0.15, random).lengths for _ in range(4_000)]


class TestLengths:
    # The shortest run that has room for all lengths, and a long one.
    @pytest.mark.parametrize("n_words", [13, 97])
    def test_neither_the_budget_nor_the_ends_bias_them(self, n_words):
        assert span_lengths() == pytest.approx(TRUE_LENGTHS)
        assert span_lengths() @ np.arange(1, 11) == pytest.approx(3.8, abs=0.005)
        drawn = drawn_spans(n_words)
        lengths = np.concatenate(drawn)
        shares = np.bincount(lengths, minlength=11)[1:] / len(lengths)
        # Four standard errors.
        error = 4 * np.sqrt(TRUE_LENGTHS / len(lengths))
        assert (np.abs(shares - TRUE_LENGTHS) < error).all()
        assert_mean([sum(lengths) for lengths in drawn], 0.15 * n_words)

    def test_the_share_of_short_runs_is_exact(self):
        for n_words in (1, 5, 12):
            words = [sum(lengths) for lengths in drawn_spans(n_words)]
            assert_mean(words, 0.15 * n_words)
            assert max(words) <= max(1, n_words - 1)

    @given(st.integers(1, 60), st.floats(0.01, 0.4), st.integers(0, 999))
    def test_spans_are_apart_and_inside(self, n_words, share, seed):
        starts, lengths = choose_spans(n_words, share, np.random.default_rng(seed))
        ends = starts + lengths
        assert ((lengths >= 1) & (lengths <= LONGEST)).all()
        assert ((starts >= 0) & (ends <= n_words)).all()
        assert (starts[1:] > ends[:-1]).all()
        assert lengths.sum() < n_words or n_words == 1

    def test_all_arrangements_are_equally_likely(self):
        random, lengths = np.random.default_rng(0), np.array([2, 1, 3])
        possible = {
            (a, b, c)
            for a, b, c in itertools.product(range(10), repeat=3)
            if a + 2 < b and b + 1 < c and c + 3 <= 10
        }
        draws = (arrange(10, lengths, random) for _ in range(200 * len(possible)))
        counts = Counter(tuple(draw.tolist()) for draw in draws)
        assert set(counts) == possible
        assert max(abs(count - 200) for count in counts.values()) < 4.5 * 200**0.5


def test_words_are_equally_likely():
    random = np.random.default_rng(0)
    drawn = [choose_words(7, 0.15, random) for _ in range(10_000)]
    counts = np.bincount(np.concatenate([c.starts for c in drawn]), minlength=7)
    assert counts / 10_000 == pytest.approx(0.15, abs=0.015)
    assert all(len(set(c.starts.tolist())) == len(c.starts) for c in drawn)


class TestNgrams:
    def test_are_masked_whole_and_apart(self):
        bounds = np.array([3, 4, 6, 9, 10, 15, 16, 17, 18, 20, 23, 24])
        pieces = set(itertools.pairwise(bounds.tolist()))
        random, words = np.random.default_rng(0), []
        for _ in range(4000):
            starts, lengths = choose_ngrams(bounds, np.diff(bounds), 0.2, random)
            ends = starts + lengths
            assert set(zip(starts.tolist(), ends.tolist(), strict=True)) <= pieces
            assert (starts[1:] > ends[:-1]).all()
            assert (lengths > 1).all()  # there are enough of them
            words.append(lengths.sum())
        assert_mean(words, 0.2 * 21)

    def test_the_share_is_that_of_tokens(self):
        """Words of n-grams have fewer tokens than others, which must not tell."""
        bounds = np.array([0, 1, 3, 4, 5, 7, 8, 9, 11, 12])
        sizes = np.array([4, 2, 3, 5, 2, 1, 6, 3, 4])
        tokens_of = dict(zip(bounds.tolist(), sizes.tolist(), strict=False))
        random = np.random.default_rng(0)
        drawn = [choose_ngrams(bounds, sizes, 0.15, random) for _ in range(4000)]
        n_tokens = [sum(tokens_of[s] for s in c.starts.tolist()) for c in drawn]
        assert_mean(n_tokens, 0.15 * sizes.sum())
        assert np.mean([(c.lengths > 1).all() for c in drawn]) > 0.9


class TestWords:
    def test_offsets_never_split_a_word(self, tokenizer):
        encoded = tokenizer(TEXT, return_offsets_mapping=True)
        names = ("input_ids", "offset_mapping")
        words = words_of({name: encoded[name] for name in names}, tokenizer)
        spans = {}
        for word, (begin, end) in zip(words, encoded["offset_mapping"], strict=True):
            if end > begin:
                spans.setdefault(word, []).append((begin, end))
        cut = [TEXT[some[0][0] : some[-1][1]].strip() for some in spans.values()]
        cut = [word for word in cut if word]
        model = tokenizer.backend_tokenizer.model
        if getattr(model, "continuing_subword_prefix", None):  # WordPiece
            ids = tokenizer(TEXT).word_ids()
            assert len(cut) == max(i for i in ids if i is not None) + 1
            assert "".join(cut) == TEXT.replace(" ", "")
        else:
            assert cut == TEXT.split()

    def test_white_space_where_the_tokenizer_knows_no_words(self, tokenizers):
        assert all(map(tells_words, tokenizers.values()))
        tokenizer = copy.deepcopy(tokenizers["albert"])
        backend = tokenizer.backend_tokenizer
        backend.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
        assert not tells_words(tokenizer)
        encoding = tokenizer("new york  cinema", add_special_tokens=False).encodings[0]
        assert set(encoding.word_ids) == {0}
        words = words_in(encoding, tokenizer, has_words=False)
        pieces = np.split(np.array(encoding.tokens), np.flatnonzero(np.diff(words)) + 1)
        joined = ["".join(some).replace("▁", "") for some in pieces]
        assert [word for word in joined if word] == ["new", "york", "cinema"]
        # The collator gets the whole text as one word.
        text = "new york city is big " * 20
        collator = SpanMaskingCollator(tokenizer, seed=1)
        labels = collator([tokenizer(text) for _ in range(8)])["labels"]
        assert 0 < (labels != IGNORED).float().mean() < 0.3

    def test_n_grams_are_masked_whole(self, tokenizer):
        dictionary = NgramDictionary({"new york city": 5, "very good": 5})
        line = "it is new york city, not very good york city"
        sequences = Packer(tokenizer, 60, dictionary=dictionary)({"text": [line]})
        feature = {name: rows[0] for name, rows in sequences.items()}
        segments = feature["segment_ids"]
        pieces = {}
        for i, piece in zip(feature["input_ids"], segments.tolist(), strict=True):
            if piece != NO_WORD:
                pieces.setdefault(piece, []).append(int(i))
        texts = [tokenizer.decode(ids).strip() for ids in pieces.values()]
        is_one_word = tokenizer.name_or_path.endswith("albert")
        city = ["new york city,"] if is_one_word else ["new york city", ","]
        assert texts == ["it", "is", *city, "not", "very good", "york", "city"]
        collator = SpanMaskingCollator(tokenizer, "ngrams", share=0.3)
        for seed in range(20):
            labels = collator.mask({**feature, "key": (seed,)}).labels
            for piece in pieces:
                assert len(set((labels[segments == piece] >= 0).tolist())) == 1


def example(random, tokenizer, n_words, most=4):
    sizes = random.integers(1, most + 1, n_words)
    words = np.repeat(np.arange(n_words), sizes)
    ids = random.integers(5, len(tokenizer), len(words))
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    return {
        "input_ids": np.concatenate([[cls], ids, [sep]]),
        "word_ids": np.concatenate([[NO_WORD], words, [NO_WORD]]),
    }


def runs(mask):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]])))
    return edges.reshape(-1, 2)


def test_shares_of_many_tokens(bert):
    random = np.random.default_rng(0)
    collator = SpanMaskingCollator(bert, seed=1)
    total, fates, by_token = Counter(), Counter(), Counter()
    for number in range(800):
        feature = example(random, bert, int(random.integers(40, 110)), most=3)
        masked = collator.mask({**feature, "key": (1, number)})
        before, words = feature["input_ids"], feature["word_ids"]
        is_masked = masked.labels != IGNORED
        assert (masked.labels[is_masked] == before[is_masked]).all()
        assert (masked.ids[~is_masked] == before[~is_masked]).all()
        assert not np.isin(before[is_masked], bert.all_special_ids).any()
        total.update(tokens=int((words != NO_WORD).sum()), masked=int(is_masked.sum()))
        for begin, end in runs(is_masked):
            assert words[begin - 1] != words[begin]
            assert words[end - 1] != words[end]
            total.update(spans=1, words=1 + int(words[end - 1] - words[begin]))
            now, then = masked.ids[begin:end], before[begin:end]
            is_mask = now == bert.mask_token_id
            assert is_mask.all() or not is_mask.any()
            fate = "mask" if is_mask[0] else "kept" if (now == then).all() else "random"
            fates[fate] += 1
            by_token[fate] += end - begin
    assert total["words"] / total["spans"] == pytest.approx(3.8, abs=0.15)
    assert total["masked"] / total["tokens"] == pytest.approx(0.15, abs=0.004)
    # Spans have fates, tokens only what their span has, so their shares vary more.
    for counts, error in ((fates, 0.01), (by_token, 0.02)):
        for fate, share in (("mask", 0.8), ("random", 0.1), ("kept", 0.1)):
            assert counts[fate] / counts.total() == pytest.approx(share, abs=error)


def test_fates_are_even():
    random = np.random.default_rng(0)
    drawn = np.array([draw_fates(7, random) for _ in range(4000)])
    for fates in drawn.T:  # each span by itself
        counts, _ = np.histogram(fates, 10, (0, 1))
        assert counts / 4000 == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("masking", ["tokens", "words"])
def test_other_units_have_the_same_share(bert, masking):
    random = np.random.default_rng(0)
    collator = SpanMaskingCollator(bert, masking, share=0.2)
    n_tokens = n_masked = n_split = 0
    for number in range(150):
        feature = example(random, bert, 80)
        words = feature["word_ids"]
        masked = collator.mask({**feature, "key": (1, number)})
        is_masked = masked.labels != IGNORED
        n_tokens += len(words) - 2
        n_masked += is_masked.sum()
        for begin, end in runs(is_masked):
            n_split += words[begin] == words[begin - 1] or words[end - 1] == words[end]
    assert n_masked / n_tokens == pytest.approx(0.2, abs=0.007)
    assert (n_split > 0) == (masking == "tokens")


class TestCollator:
    def test_special_tokens_inside_stay(self, tokenizer):
        mask, sep = tokenizer.mask_token, tokenizer.sep_token
        text = f"new york {mask} city, {sep} very good {tokenizer.unk_token} film 漢字 "
        encoded = tokenizer(text * 4)
        ids, words = np.array(encoded["input_ids"]), encoded.word_ids()
        special = np.isin(ids, tokenizer.all_special_ids)
        collator = SpanMaskingCollator(tokenizer, share=0.4)
        for seed in range(20):
            masked = collator.mask({**encoded, "word_ids": words, "key": (seed,)})
            assert (masked.labels[special] == IGNORED).all()
            assert (masked.ids[special] == ids[special]).all()
        assert special.sum() >= 14

    def test_nothing_special_is_put_in(self, bert):
        # Half of all random tokens would be special if they were not left out.
        feature = example(np.random.default_rng(0), bert, 200)
        seen = set()
        for seed in range(60):
            collator = SpanMaskingCollator(bert, seed=seed)
            seen |= set(collator.mask({**feature, "key": ()}).ids.tolist())
        special = set(bert.all_special_ids)
        assert seen & special == {2, 3, 4}  # [CLS], [SEP] and [MASK]
        assert len(seen) == len(bert) - 2  # and all others

    def test_chance_is_in_the_key_or_pytorchs(self, bert):
        random = np.random.default_rng(0)
        examples = [example(random, bert, 30) | {"key": (1, n)} for n in range(8)]
        collator = SpanMaskingCollator(bert, seed=-3)
        alone = [collator.mask(feature) for feature in examples]
        torch.manual_seed(5)
        np.random.seed(5)
        loader = DataLoader(examples, 3, collate_fn=collator)
        rows = [row for batch in loader for row in batch["input_ids"]]
        for row, masked in zip(rows, alone, strict=True):
            assert row[: len(masked.ids)].tolist() == masked.ids.tolist()
        other = collator.mask(examples[0] | {"key": (2, 0)})
        assert other.labels.tolist() != alone[0].labels.tolist()
        draws, keyless = [], example(random, bert, 40)
        for seed in (1, 2, 1):
            torch.manual_seed(seed)
            draws.append(collator.mask(keyless).labels)
        assert draws[0].tolist() == draws[2].tolist() != draws[1].tolist()

    def test_pairs_and_the_padding_of_others_stay(self, bert, monkeypatch):
        monkeypatch.setattr(bert, "padding_side", "left")
        pairs = [("new york", "a"), ("new york is very good", "the unbelievable film")]
        padded = [bert(*pair, padding="max_length", max_length=30) for pair in pairs]
        collator = SpanMaskingCollator(bert, share=0.4)
        for features in (padded, [bert(*pair) for pair in pairs]):
            batch = collator(features)
            width = batch["input_ids"].shape[1]
            expected = bert(pairs, padding="max_length", max_length=width)
            for name in ("attention_mask", "token_type_ids"):
                assert batch[name].tolist() == expected[name]
            separators = np.array(expected["input_ids"]) == bert.sep_token_id
            assert (batch["labels"].numpy()[separators] == IGNORED).all()
            is_seen = batch["attention_mask"].bool()
            assert (batch["input_ids"][~is_seen] == bert.pad_token_id).all()
            assert (batch["labels"][~is_seen] == IGNORED).all()

    def test_refuses_wrong_settings_and_tokenizers(self, bert):
        with pytest.raises(SpanftError, match=r"share is 0\.5, but must be over 0"):
            SpanMaskingCollator(bert, share=0.5)
        feature = {"input_ids": [2, 5, 3], "attention_mask": [1, 1, 1]}
        with pytest.raises(SpanftError, match=r"only \['input_ids', 'attention_m"):
            SpanMaskingCollator(bert)([feature])
        bare = AutoTokenizer.from_pretrained(bert.name_or_path, mask_token=None)
        with pytest.raises(SpanftError, match="has no mask token"):
            SpanMaskingCollator(bare)
        slow = BertTokenizer.from_pretrained(bert.name_or_path)
        if not slow.is_fast:  # transformers 5 has no slow ones
            with pytest.raises(ValueError, match="not available when using non-fast"):
                SpanMaskingCollator(slow)
