"""Pre-training: text in, a folder for spaCy out; interrupted, resumed, misused."""

import gzip
import json
import math
import shutil
import sys
from itertools import chain

import numpy as np
import pytest
import spacy
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from spacy_spanft import NgramDictionary
from spacy_spanft.errors import PretrainingError
from spacy_spanft.pretraining import Settings, SpanMaskingCollator, pretrain
from spacy_spanft.pretraining.folder import CHECKPOINTS, HEADS, LOG, RECORD
from spacy_spanft.pretraining.objective import SpanObjective
from spacy_spanft.pretraining.order import HeldOut, Passes, hold_out
from spacy_spanft.pretraining.text import LineEncoder, lines_of, read_sequences
from spacy_spanft.pretraining.words import NO_WORD

from ..commands import run
from ..tiny import save_bert, save_encoder, transformer_config
from .tiny_mlm import albert_tokenizer, write_text

# Four examples a step, of some twenty sequences: the second pass begins at step 6.
TINY = {"batch_size": 4, "learning_rate": 1e-2, "save_every": 3, "eval_every": 3}
TINY |= {"accumulate": 1, "eval_share": 0.2}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A BERT that forgets at random, so that PyTorch's chance has its part."""
    folder = save_bert(tmp_path_factory.mktemp("model") / "bert", max_length=40)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def text(tmp_path):
    return write_text(tmp_path / "text.txt", n_lines=24)


def train(model, text, output, *options, ok=True):
    """Train on the command line."""
    settings = [f"--{name.replace('_', '-')}={TINY[name]}" for name in TINY]
    args = ["--model", model, "--text", text, "--output", output, *settings, *options]
    return run("spanft", "pretrain", *args, ok=ok)


def weights(folder):
    return {**load_file(folder / "model.safetensors"), **load_file(folder / HEADS)}


def log(folder):
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


def interrupt(monkeypatch, at, error=KeyboardInterrupt):
    """Stop in the middle of a step."""
    forward, seen = SpanObjective.forward, []

    def stop(self, *args, **kwargs):
        seen.append(self.training)
        if sum(seen) == at:
            raise error
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(SpanObjective, "forward", stop)


class TestText:
    def read(self, tokenizer, lines, length=12, **how):
        encode = LineEncoder(tokenizer, how.pop("dictionary", None))
        return read_sequences([lines], encode, tokenizer, length, **how)

    def words(self, tokenizer, sequences):
        """The words of each sequence."""
        found = []
        for index in range(sequences.n_sequences):
            feature = sequences.get(index)
            tokens = tokenizer.convert_ids_to_tokens(feature["input_ids"])
            words = {}
            for token, word in zip(tokens, feature["word_ids"].tolist(), strict=True):
                if word != NO_WORD:
                    words[word] = words.get(word, "") + token.replace("##", "")
            found.append(list(words.values()))
        return found

    def test_nothing_is_lost_and_no_word_is_cut(self, model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        random = np.random.default_rng(0)
        some = ["new", "unbelievable", "cinema", "the", "played", "of"]
        lines = [" ".join(random.choice(some, n)) for n in (3, 70, 1, 5, 12)]
        sequences = self.read(tokenizer, lines)
        words = self.words(tokenizer, sequences)
        assert [*chain.from_iterable(words)] == " ".join(lines).split()
        assert sequences.n_words == 91
        assert sequences.most_words == max(map(len, words))
        sizes = np.diff(sequences.bounds)
        assert sizes.max() <= 10  # and two special tokens
        assert len(sequences.get(0)["input_ids"]) == sizes[0] + 2
        # "unbelievable" has the most, so a sequence that is not the last is as full.
        most = len(tokenizer.tokenize("cinema unbelievable")) - 1
        assert sizes[:-1].min() > 10 - most

    def test_is_what_the_tokenizer_makes(self, model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        feature = self.read(tokenizer, ["New York plays"]).get(0)
        expected = tokenizer("New York plays")
        assert feature["input_ids"].tolist() == expected["input_ids"]
        ids = [NO_WORD if i is None else i for i in expected.word_ids()]
        words = feature["word_ids"].tolist()
        assert [a == b for a in words for b in words] == [
            a == b for a in ids for b in ids
        ]

    def test_an_empty_line_ends_a_text(self, model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        lines = ["the new", "city", "", "is it", "", "", "good"]
        words = [["the", "new", "city"], ["is", "it"], ["good"]]
        assert self.words(tokenizer, self.read(tokenizer, lines)) == words
        words = [["the", "new"], ["city"], ["is", "it"], ["good"]]
        unpacked = self.read(tokenizer, lines, pack=False)
        assert self.words(tokenizer, unpacked) == words

    def test_blocks_make_no_difference(self, model, monkeypatch):
        tokenizer = AutoTokenizer.from_pretrained(model)
        lines = ["the new york city is unbelievable"] * 50
        once = self.read(tokenizer, lines)
        monkeypatch.setattr("spacy_spanft.pretraining.text._PACK_SIZE", 7)
        many = read_sequences(
            [lines[:9], lines[9:]], LineEncoder(tokenizer), tokenizer, 12
        )
        assert many.checksum == once.checksum
        assert self.read(tokenizer, lines[1:]).checksum != once.checksum

    def test_a_word_that_is_too_long_is_cut(self, model, monkeypatch):
        tokenizer = AutoTokenizer.from_pretrained(model)
        lines = ["new " + "x" * 35 + " york", "y" * 25]
        for size in (1 << 16, 3):
            monkeypatch.setattr("spacy_spanft.pretraining.text._PACK_SIZE", size)
            sequences = self.read(tokenizer, lines)
            assert np.diff(sequences.bounds).max() == 10
            words = self.words(tokenizer, sequences)
            assert "".join([*chain.from_iterable(words)]) == "".join(lines).replace(
                " ", ""
            )

    def test_packed_files(self, model, tmp_path):
        tokenizer = AutoTokenizer.from_pretrained(model)
        plain = write_text(tmp_path / "a.txt")
        packed = tmp_path / "b.txt.gz"
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        one, two = (
            read_sequences(
                lines_of([path], "strict"), LineEncoder(tokenizer), tokenizer, 40
            )
            for path in (plain, packed)
        )
        assert one.checksum == two.checksum
        assert one.n_words == 40 * 30

    @pytest.mark.parametrize("kind", ["bert", "roberta", "albert"])
    def test_ngrams(self, kind, model, tmp_path):
        if kind == "albert":
            tokenizer = albert_tokenizer()
        else:
            folder = (
                model if kind == "bert" else save_encoder(tmp_path / "r", "roberta")
            )
            tokenizer = AutoTokenizer.from_pretrained(folder)
        dictionary = NgramDictionary({"new york city": 5, "very good": 5})
        line = "it is new york city, not very good york city"
        sequences = self.read(tokenizer, [line], 60, dictionary=dictionary)
        feature = sequences.get(0)
        pieces = {}
        for i, piece in zip(
            feature["input_ids"], feature["segment_ids"].tolist(), strict=True
        ):
            if piece != NO_WORD:
                pieces.setdefault(piece, []).append(int(i))
        texts = [tokenizer.decode(ids).strip() for ids in pieces.values()]
        city = "new york city," if kind == "albert" else "new york city"
        comma = [] if kind == "albert" else [","]
        end = ["not", "very good", "york", "city"]
        assert texts == ["it", "is", city, *comma, *end]
        collator = SpanMaskingCollator(tokenizer, "ngrams", share=0.3)
        for seed in range(20):
            labels = collator.mask({**feature, "key": (seed,)}).labels
            segments = feature["segment_ids"]
            for piece in pieces:
                assert len(set((labels[segments == piece] >= 0).tolist())) == 1


class TestOrder:
    def test_each_pass_has_all_in_another_order(self, model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        sequences = read_sequences(
            [["the new york city", ""] * 9], LineEncoder(tokenizer), tokenizer, 12
        )
        rest, held = hold_out(9, 0.25)
        assert held.tolist() == [2, 6]
        assert sorted([*rest, *held]) == list(range(9))
        passes = Passes(sequences, rest, 21, seed=-1)
        keys = [passes[number]["key"] for number in range(len(passes))]
        for number in range(3):
            some = keys[7 * number : 7 * number + 7]
            assert sorted(some) == [(number + 1, index) for index in rest]
        orders = {tuple(index for _, index in keys[k : k + 7]) for k in (0, 7, 14)}
        assert len(orders) == 3
        # Whoever begins in the middle finds the same.
        later = Passes(sequences, rest, 21, seed=-1)
        assert [later[number]["key"] for number in (12, 3, 20)] == [
            keys[12],
            keys[3],
            keys[20],
        ]
        assert [h["key"] for h in HeldOut(sequences, held)] == [(0, 2), (0, 6)]
        with pytest.raises(IndexError):
            passes[21]

    def test_at_least_one_is_held_out(self):
        assert len(hold_out(15, 0.001)[1]) == 1
        assert len(hold_out(80, 0.001)[1]) == 8
        assert len(hold_out(900, 0.001)[1]) == 10
        assert len(hold_out(900, 0.1)[1]) == 90
        assert len(hold_out(30, 0.0)[1]) == 0
        assert len(hold_out(1, 0.5)[1]) == 0


@pytest.fixture(scope="module")
def done(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    text = write_text(folder / "text.txt", n_lines=24)
    printed = train(model, text, folder / "out", "--steps=6", "--log-every=2")
    return folder / "out", printed, text


class TestOutput:
    def test_is_a_plain_encoder(self, done, model):
        output, _, _ = done
        encoder, loading = AutoModel.from_pretrained(output, output_loading_info=True)
        # Heads for masked words have no use for a pooler, so nobody trained one.
        assert all(key.startswith("pooler.") for key in loading["missing_keys"])
        assert not loading["unexpected_keys"]
        before = AutoModel.from_pretrained(model)
        name = "encoder.layer.0.output.dense.weight"
        now, then = (m.get_parameter(name) for m in (encoder, before))
        assert not torch.equal(now, then)
        tokenizer = AutoTokenizer.from_pretrained(output)
        assert tokenizer.is_fast
        assert not list(output.glob(".*"))

    def test_is_a_transformer_for_spacy(self, done):
        output, _, _ = done
        nlp = spacy.blank("en")
        nlp.add_pipe("transformer", config=_without_factory(transformer_config(output)))
        nlp.initialize()
        doc = nlp("New York is unbelievable.")
        assert doc._.trf_data.model_output.last_hidden_state.shape[-1] == 16

    def test_says_how_far_it_came(self, done):
        output, printed, _ = done
        lines = log(output)
        measured = [line for line in lines if "eval_perplexity" in line]
        assert [line["step"] for line in measured] == [3, 6]
        assert [line["step"] for line in lines if "loss" in line] == [2, 4, 6]
        last = measured[-1]
        assert last["eval_perplexity"] == pytest.approx(
            math.exp(last["eval_mlm_loss"]), rel=1e-6
        )
        perplexity = f"held-out perplexity {last['eval_perplexity']:.2f}"
        assert f"Wrote {output}: 6 steps, {perplexity}" in printed.stderr
        record = json.loads((output / RECORD).read_text())
        assert record["steps"] == 6
        assert record["text"]["words"] == 24 * 30
        passes = 6 * 4 / (record["text"]["sequences"] * 0.8)
        assert lines[-1]["epoch"] == pytest.approx(passes, rel=0.03)

    def test_heads_go_on(self, done, tmp_path):
        output, _, text = done
        heads = load_file(output / HEADS)
        assert any(key.startswith("mlm.cls.predictions.transform") for key in heads)
        assert "mlm.cls.predictions.decoder.weight" not in heads  # it is shared
        assert "sbo.positions.weight" in heads
        # With nothing learned in between, all is as it was.
        settings = Settings(steps=1, warmup=1, eval_share=0.1, batch_size=4)
        pretrain(output, [text], tmp_path / "on", settings)
        on, before = weights(tmp_path / "on"), weights(output)
        assert set(on) == set(before)
        assert all(torch.equal(on[key], before[key]) for key in on)

    def test_damaged_heads(self, done, tmp_path):
        output, _, text = done
        copy = tmp_path / "copy"
        shutil.copytree(output, copy, ignore=shutil.ignore_patterns(CHECKPOINTS))
        (copy / HEADS).write_bytes(b"no weights")
        printed = train(copy, text, tmp_path / "on", ok=False)
        assert "pretraining_heads.safetensors' do not fit the model" in printed.stderr


def _without_factory(config):
    return {key: value for key, value in config.items() if key != "factory"}


class TestTraining:
    def test_learns(self, tmp_path):
        model = save_bert(tmp_path / "m", width=32, max_length=40)
        # What stands on both sides says what is between.
        some = ["the", "new", "city", "is", "good", "film", "not", "in"]
        lines = [" ".join([word] * 60) for word in some]
        (tmp_path / "t.txt").write_text("\n\n".join(lines * 4))
        settings = Settings(
            steps=60,
            batch_size=16,
            accumulate=1,
            learning_rate=1e-2,
            eval_every=20,
            save_every=999,
            eval_share=0.1,
        )
        done = pretrain(model, [tmp_path / "t.txt"], tmp_path / "o", settings)
        curve = [x["eval_perplexity"] for x in log(tmp_path / "o") if "eval_loss" in x]
        assert len(curve) == 3
        assert curve == sorted(curve, reverse=True)
        assert curve[-1] < 3
        assert done.perplexity == curve[-1]
        sbo = [
            x["eval_sbo_perplexity"] for x in log(tmp_path / "o") if "eval_loss" in x
        ]
        assert sbo[-1] < 0.5 * sbo[0]

    def test_small_batches_make_the_same_step(self, tmp_path, text):
        model = save_bert(tmp_path / "m", max_length=40)  # which forgets nothing
        shared = {"steps": 3, "eval_share": 0.0, "learning_rate": 1e-2}
        for name, sizes in (("a", (4, 1)), ("b", (2, 2))):
            batch, accumulate = sizes
            settings = Settings(batch_size=batch, accumulate=accumulate, **shared)
            pretrain(model, [text], tmp_path / name, settings)
        one, two = weights(tmp_path / "a"), weights(tmp_path / "b")
        for key, weight in one.items():
            assert torch.allclose(weight, two[key], atol=2e-5), key

    @pytest.mark.parametrize("options", [("--no-sbo",), ("--masking=ngrams",)])
    def test_ablations(self, model, text, tmp_path, options):
        train(model, text, tmp_path / "o", "--steps=2", *options)
        has_sbo = any(
            key.startswith("sbo.") for key in load_file(tmp_path / "o" / HEADS)
        )
        assert has_sbo == ("--no-sbo" not in options)
        measured = next(x for x in log(tmp_path / "o")[::-1] if "eval_loss" in x)
        assert ("eval_sbo_loss" in measured) == has_sbo

    @pytest.mark.parametrize("kind", ["bert", "roberta"])
    def test_from_scratch(self, kind, text, tmp_path):
        model = save_encoder(tmp_path / "m", kind, max_length=40)
        (model / "model.safetensors").unlink()  # only its shape is needed
        size = {"bert": 120, "roberta": 340}[kind]
        options = ["--from-scratch", "--layers=3", "--width=24", f"--vocab-size={size}"]
        train(model, text, tmp_path / "o", *options, "--steps=1", "--no-sbo")
        encoder = AutoModelForMaskedLM.from_pretrained(tmp_path / "o")
        config, tokenizer = (
            encoder.config,
            AutoTokenizer.from_pretrained(tmp_path / "o"),
        )
        assert (config.num_hidden_layers, config.hidden_size) == (3, 24)
        assert config.intermediate_size == 96
        assert config.vocab_size == len(tokenizer) <= size
        assert config.pad_token_id == tokenizer.pad_token_id
        assert type(tokenizer).__name__.lower().startswith(kind)
        whole = tokenizer("new york city unbelievable")
        assert len(whole["input_ids"]) - 2 <= 10  # it has 23 letters

    def test_several_files_and_no_held_out_text(self, model, text, tmp_path):
        more = write_text(tmp_path / "more.txt", seed=1)
        options = (more, "--eval-share=0", "--steps=1")
        train(model, text, tmp_path / "o", *options)
        record = json.loads((tmp_path / "o" / RECORD).read_text())
        assert record["text"]["words"] == (24 + 40) * 30
        assert not any("eval_loss" in line for line in log(tmp_path / "o"))

    def test_epochs(self, model, text, tmp_path):
        train(model, text, tmp_path / "o", "--epochs=1.5", "--no-sbo")
        record = json.loads((tmp_path / "o" / RECORD).read_text())
        n_held = round(0.2 * record["text"]["sequences"])
        steps = math.ceil(1.5 * (record["text"]["sequences"] - n_held) / 4)
        assert log(tmp_path / "o")[-1]["step"] == steps


LONG = ("--steps=11", "--log-every=1", "--warmup=0.3")


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """A training that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    train(model, write_text(folder / "text.txt", n_lines=24), folder / "o", *LONG)
    return folder / "o"


class TestResume:
    # In the first pass over the text and in the second, in mid-step.
    @pytest.mark.parametrize(("at", "workers"), [(5, 0), (10, 0), (8, 2)])
    def test_ends_where_it_would_have(
        self, model, text, whole, tmp_path, monkeypatch, at, workers
    ):
        more = (*LONG, f"--workers={workers}")
        with monkeypatch.context() as patch:
            interrupt(patch, at)
            printed = train(model, text, tmp_path / "b", *more, ok=False)
        assert "Stopped" in printed.stderr
        assert "--resume" in printed.stderr
        assert not (tmp_path / "b" / "config.json").exists()
        train(model, text, tmp_path / "b", *more, "--resume")
        one, two = weights(whole), weights(tmp_path / "b")
        assert set(one) == set(two)
        for key in one:
            assert torch.equal(one[key], two[key]), key
        names = ("step", "loss", "eval_perplexity", "learning_rate")
        logs = [
            [[line.get(name) for name in names] for line in log(folder)]
            for folder in (whole, tmp_path / "b")
        ]
        assert logs[0] == logs[1]

    def test_half_a_checkpoint_is_passed_over(self, model, text, tmp_path):
        train(model, text, tmp_path / "a", "--steps=7")
        checkpoints = tmp_path / "a" / CHECKPOINTS
        state = checkpoints / "checkpoint-7" / "trainer_state.json"
        state.write_bytes(state.read_bytes()[:50])
        expected = weights(tmp_path / "a")
        (checkpoints / "checkpoint-7" / "optimizer.pt").write_bytes(b"half")
        train(model, text, tmp_path / "a", "--steps=7", "--resume")
        found = weights(tmp_path / "a")
        assert all(torch.equal(found[key], expected[key]) for key in expected)

    def test_before_the_first_checkpoint(self, model, text, tmp_path, monkeypatch):
        with monkeypatch.context() as patch:
            interrupt(patch, 2)
            train(model, text, tmp_path / "a", "--steps=4", ok=False)
        train(model, text, tmp_path / "a", "--steps=4", "--resume")
        train(model, text, tmp_path / "b", "--steps=4", "--resume")
        one, two = weights(tmp_path / "a"), weights(tmp_path / "b")
        assert all(torch.equal(one[key], two[key]) for key in one)

    def test_from_scratch_keeps_its_vocabulary(self, model, text, tmp_path):
        options = ("--from-scratch", "--vocab-size=60", "--layers=1", "--steps=3")
        train(model, text, tmp_path / "a", *options)
        expected = weights(tmp_path / "a")
        train(model, text, tmp_path / "a", *options, "--resume")
        found = weights(tmp_path / "a")
        assert all(torch.equal(found[key], expected[key]) for key in expected)

    def test_other_text_or_settings(self, model, text, tmp_path):
        train(model, text, tmp_path / "a", "--steps=3")
        more = (tmp_path / "a", "--steps=3", "--resume")
        printed = train(model, text, *more, "--share=0.2", ok=False)
        assert "share was 0.15, is 0.2" in printed.stderr
        other = write_text(tmp_path / "other.txt", seed=3)
        printed = train(model, other, *more, ok=False)
        assert "the text is another one" in printed.stderr
        # Nor without a checkpoint: another training would be begun.
        for checkpoint in (tmp_path / "a" / CHECKPOINTS).iterdir():
            shutil.rmtree(checkpoint)
        printed = train(model, text, *more, "--share=0.2", ok=False)
        assert "share was 0.15, is 0.2" in printed.stderr
        printed = train(model, text, *more, ok=False)
        assert "holds an encoder that is finished" in printed.stderr
        expected = weights(tmp_path / "a")
        assert expected
        record = tmp_path / "a" / RECORD
        record.write_text("{")
        printed = train(model, text, *more, ok=False)
        assert "pretraining.json' is damaged" in printed.stderr

    def test_overwrite(self, model, text, tmp_path):
        train(model, text, tmp_path / "a", "--steps=3")
        (tmp_path / "a" / "mine.txt").write_text("kept")
        train(model, text, tmp_path / "a", "--steps=2", "--overwrite", "--seed=5")
        assert log(tmp_path / "a")[-1]["step"] == 2
        found = [path.name for path in (tmp_path / "a" / CHECKPOINTS).iterdir()]
        assert found == ["checkpoint-2"]
        assert (tmp_path / "a" / "mine.txt").read_text() == "kept"

    def test_overwritten_halfway_there_is_no_model(
        self, model, text, tmp_path, monkeypatch
    ):
        train(model, text, tmp_path / "a", "--steps=2")
        (tmp_path / "a" / "mine.txt").write_text("kept")
        interrupt(monkeypatch, 1)
        printed = train(
            model, text, tmp_path / "a", "--steps=2", "--overwrite", ok=False
        )
        assert "No checkpoint was written yet" in printed.stderr
        left = sorted(path.name for path in (tmp_path / "a").iterdir())
        assert left == [CHECKPOINTS, "mine.txt", RECORD] or left == ["mine.txt", RECORD]

    @pytest.mark.parametrize("option", ["--resume", "--overwrite"])
    def test_nothing_of_others_is_touched(self, model, text, tmp_path, option):
        theirs = tmp_path / "a" / CHECKPOINTS / "checkpoint-3"
        theirs.mkdir(parents=True)
        (theirs / "weights.pt").write_bytes(b"mine")
        (tmp_path / "a" / "config.json").write_text("mine")
        printed = train(model, text, tmp_path / "a", option, ok=False)
        assert "no training was begun in it" in printed.stderr
        assert (theirs / "weights.pt").read_bytes() == b"mine"
        assert (tmp_path / "a" / "config.json").read_text() == "mine"

    def test_a_model_is_not_overwritten_by_what_begins_with_it(
        self, model, text, tmp_path
    ):
        train(model, text, tmp_path / "a", "--steps=1")
        expected = weights(tmp_path / "a")
        for inside in (".", f"{CHECKPOINTS}/checkpoint-1"):
            source = tmp_path / "a" / inside
            printed = train(source, text, tmp_path / "a", "--overwrite", ok=False)
            assert "Name another output" in printed.stderr
        found = weights(tmp_path / "a")
        assert all(torch.equal(found[key], expected[key]) for key in expected)

    def test_a_record_of_others_removes_nothing_elsewhere(self, model, text, tmp_path):
        train(model, text, tmp_path / "a", "--steps=1")
        (tmp_path / "mine.txt").write_text("kept")
        record = json.loads((tmp_path / "a" / RECORD).read_text())
        record["files"] += ["../mine.txt", str(tmp_path / "mine.txt"), 3]
        (tmp_path / "a" / RECORD).write_text(json.dumps(record))
        train(model, text, tmp_path / "a", "--steps=1", "--overwrite")
        assert (tmp_path / "mine.txt").read_text() == "kept"

    @pytest.mark.parametrize("name", ["optimizer.pt", "rng_state.pth", "model"])
    def test_damaged_checkpoints(self, model, text, tmp_path, name):
        train(model, text, tmp_path / "a", "--steps=3")
        checkpoint = tmp_path / "a" / CHECKPOINTS / "checkpoint-3"
        file = checkpoint / (name if "." in name else "model.safetensors")
        whole = file.read_bytes()
        middle = len(whole) // 2
        odd = bytes(255 - byte for byte in whole[middle : middle + 40])
        damaged = [whole[:middle]]
        if name != "model":  # safetensors have no checksum
            damaged.append(whole[:middle] + odd + whole[middle + 40 :])
        for content in damaged:
            file.write_bytes(content)
            options = ("--steps=4", "--resume")
            printed = train(model, text, tmp_path / "a", *options, ok=False)
            assert "damaged" in printed.stderr or "cannot be loaded" in printed.stderr
            assert "checkpoint-3" in printed.stderr
            assert "Traceback" not in printed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to set")
@pytest.mark.parametrize("limit", [20_000, 60_000])
def test_full_disk(model, text, tmp_path, limit):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        printed = train(model, text, tmp_path / "a", "--steps=6", ok=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "✘" in printed.stderr
    assert "checkpoints" in printed.stderr
    assert "Traceback" not in printed.stderr
    # With more room, it goes on.
    train(model, text, tmp_path / "a", "--steps=6", "--resume")
    assert (tmp_path / "a" / "config.json").exists()


class TestMisuse:
    def says(self, model, text, output, *options):
        printed = train(model, text, output, *options, ok=False)
        assert "Traceback" not in printed.stderr
        # transformers 5 also says what it found among the weights.
        (line,) = (one for one in printed.stderr.splitlines() if one.startswith("✘"))
        return line

    def test_output_is_taken(self, model, text, tmp_path):
        out = tmp_path / "o"
        out.mkdir()
        (out / "a").touch()
        assert "is not empty" in self.says(model, text, out)
        assert "Either go on" in self.says(model, text, out, "--resume", "--overwrite")
        assert "is a file. Name a folder" in self.says(model, text, out / "a")
        assert [path.name for path in out.iterdir()] == ["a"]

    def test_no_mask_token(self, text, tmp_path):
        model = save_bert(tmp_path / "m")
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            if not (model / name).exists():  # transformers 5 has one of them
                continue
            values = json.loads((model / name).read_text())
            (model / name).write_text(json.dumps({**values, "mask_token": None}))
        assert "has no mask token" in self.says(model, text, tmp_path / "o")
        assert not (tmp_path / "o").exists()

    def test_slow_tokenizer(self, text, tmp_path):
        from transformers import CTRLTokenizer

        model = save_bert(tmp_path / "m")
        for name in ("tokenizer.json", "vocab.txt", "tokenizer_config.json"):
            (model / name).unlink()
        (tmp_path / "vocab.json").write_text('{"<unk>": 0, "a</w>": 1}')
        (tmp_path / "merges.txt").write_text("#version: 0.2\n\n")
        files = (tmp_path / "vocab.json", tmp_path / "merges.txt")
        CTRLTokenizer(*map(str, files)).save_pretrained(model)
        assert "class 'CTRLTokenizer', for which" in self.says(
            model, text, tmp_path / "o"
        )

    @pytest.mark.parametrize("kind", ["gpt2", "t5"])
    def test_no_masked_language_model(self, kind, text, tmp_path):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
        line = self.says(tmp_path, text, tmp_path / "o")
        assert f"is of type '{kind}', for which" in line

    def test_no_model(self, text, tmp_path):
        assert "cannot be loaded" in self.says(tmp_path / "no", text, tmp_path / "o")
        (tmp_path / "config.json").write_text("{")
        assert "cannot be loaded" in self.says(tmp_path, text, tmp_path / "o")

    @pytest.mark.parametrize(
        ("content", "options", "message"),
        [
            ("", (), "There is no text in"),
            ("\n \n", (), "There is no text in"),
            ("the new york city\n", (), "of 40 tokens at most, has 4 words"),
            ("the new york city\n" * 9, ("--no-pack",), "packed (--pack)"),
            ("the\n", ("--masking=words",), "at least 2 are needed"),
        ],
    )
    def test_short_text(self, model, tmp_path, content, options, message):
        text = tmp_path / "t.txt"
        text.write_text(content)
        assert message in self.says(model, text, tmp_path / "o", *options)

    def test_no_file(self, model, tmp_path):
        line = self.says(model, tmp_path / "no.txt", tmp_path / "o")
        assert "There is no file" in line
        with pytest.raises(PretrainingError, match="nothing to read"):
            pretrain(model, [], tmp_path / "o")

    def test_no_accelerate(self, model, text, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "accelerate", None)
        line = self.says(model, text, tmp_path / "o")
        assert 'pip install "spacy-spanft[pretrain]"' in line

    def test_a_tokenizer_of_another_model(self, text, tmp_path):
        model = save_bert(tmp_path / "m")
        config = json.loads((model / "config.json").read_text())
        config["vocab_size"] = 50
        (model / "config.json").write_text(json.dumps(config))
        line = self.says(model, text, tmp_path / "o")
        assert "knows 90 tokens, but the model has embeddings for 50" in line

    @pytest.mark.parametrize(
        ("option", "message"),
        [
            ("--share=0.5", "share is 0.5, but must be over 0, up to 0.4"),
            ("--share=nan", "share is nan, but must be"),
            ("--eval-share=0.6", "eval_share is 0.6"),
            ("--epochs=0", "epochs is 0.0"),
            ("--epochs=inf", "epochs is inf"),
            ("--precision=fp16", "Mixed precision (fp16) needs a GPU"),
            ("--precision=bf16", "Mixed precision (bf16) needs a GPU"),
            ("--batch-size=99999", "One step takes 99,999 sequences, but the text has"),
            ("--steps=0", "steps is 0, but must be a whole number of 1 or more"),
            ("--batch-size=0", "batch_size is 0"),
            ("--learning-rate=-1", "learning_rate is -1.0"),
            ("--warmup=2", "warmup is 2.0"),
            ("--workers=-1", "workers is -1"),
            ("--max-length=65", "max_length is 65, but must be from 3 to 40"),
            ("--max-length=2", "max_length is 2, but must be from 3 to 40"),
            ("--layers=2", "layers can only be set from scratch"),
            ("--dictionary=x", "masking is 'spans', which has no use for it"),
        ],
    )
    def test_settings(self, model, text, tmp_path, option, message):
        if "precision" in option and torch.cuda.is_available():
            pytest.skip("there is a GPU")
        assert message in self.says(model, text, tmp_path / "o", option)

    def test_more_memory_than_there_is(self, model, text, tmp_path, monkeypatch):
        monkeypatch.setattr("spacy_spanft.pretraining.memory.memory_of", lambda _: 9)
        line = self.says(model, text, tmp_path / "o")
        assert "GB of memory for 4 sequences of " in line
        assert "Lower --batch-size and raise --accumulate" in line

    def test_width(self, model, text, tmp_path):
        options = ("--from-scratch", "--width=100")
        line = self.says(model, text, tmp_path / "o", *options)
        assert "width is 100, but must be a multiple of 64" in line

    def test_masking_in_python(self):
        with pytest.raises(PretrainingError, match="masking is 'chance', but must be"):
            Settings(masking="chance")
        with pytest.raises(PretrainingError, match="steps is '3', but must be a whole"):
            Settings(steps="3")
        with pytest.raises(PretrainingError, match="errors is 'ignore'"):
            Settings(errors="ignore")

    def test_twice_the_standard_input(self, model, tmp_path):
        assert "Name it once" in self.says(model, "-", tmp_path / "o", "-")

    def test_a_rank_without_a_world(self, model, text, tmp_path, monkeypatch):
        monkeypatch.setenv("RANK", "1")
        train(model, text, tmp_path / "a", "--steps=1")
        assert (tmp_path / "a" / "config.json").exists()

    def test_one_file_is_a_text(self, model, text, tmp_path):
        done = pretrain(model, str(text), tmp_path / "o", Settings(steps=1))
        assert done.steps == 1

    def test_text_from_standard_input_twice(self, model, text, tmp_path, monkeypatch):
        import io
        from types import SimpleNamespace

        stdin = SimpleNamespace(buffer=io.BytesIO(text.read_bytes()))
        monkeypatch.setattr("spacy_spanft.ngrams.text.blocks.sys.stdin", stdin)
        settings = Settings(from_scratch=True, vocab_size=60, steps=1, batch_size=2)
        pretrain(model, ["-"], tmp_path / "o", settings)
        record = json.loads((tmp_path / "o" / RECORD).read_text())
        assert record["text"]["words"] == 24 * 30
