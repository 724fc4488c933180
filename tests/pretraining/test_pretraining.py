"""Pre-training: text in, a folder for spaCy out; interrupted, resumed, misused."""

import gzip
import json
import math
import shutil
from itertools import chain

import numpy as np
import pytest
import torch
from datasets import Dataset
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from spacy_spanft import NgramDictionary
from spacy_spanft.pretraining import Settings, SpanMaskingCollator, pretrain
from spacy_spanft.pretraining.collator import NO_WORD
from spacy_spanft.pretraining.objective import SpanObjective
from spacy_spanft.pretraining.pretrainer import CHECKPOINTS
from spacy_spanft.pretraining.segments import Packer, Passes, read_lines

from ..commands import run
from ..tiny import save_bert, save_encoder

# Of two checkpoints within a second, the Trainer looks at the numbers.
pytestmark = pytest.mark.filterwarnings("ignore:mtime may not be reliable")

# Four examples a step, of some twenty sequences: the second pass begins at step 6.
TINY = {"batch_size": 4, "learning_rate": 1e-2, "save_every": 3}
TINY |= {"accumulate": 1, "eval_share": 0.2}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Keep what datasets caches out of the home folder."""
    folder = tmp_path_factory.getbasetemp() / "datasets"
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A BERT that forgets at random, so that PyTorch's chance has its part."""
    folder = save_bert(tmp_path_factory.mktemp("model") / "bert", max_length=40)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def tokenizer(model):
    return AutoTokenizer.from_pretrained(model)


WORDS = """
the a in of is it new york city united states airlines holding not very good
bad film this that was unbelievable playing walks cinema planes
"""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(
        "".join(" ".join(random.choice(WORDS.split(), 30)) + "\n" for _ in range(24))
    )
    return path


def train(model, text, output, *options, ok=True):
    settings = [f"--{name.replace('_', '-')}={TINY[name]}" for name in TINY]
    args = [text, "--model", model, "--output", output, *settings, *options]
    return run("spanft", "pretrain", *args, ok=ok)


def weights(folder):
    return load_file(folder / "model.safetensors")


def same(first, second):
    assert set(first) == set(second)
    return all(torch.equal(first[key], second[key]) for key in first)


def log(folder):
    """Return the Trainer's log until the last checkpoint."""
    states = (folder / CHECKPOINTS).glob("*/trainer_state.json")
    states = [json.loads(state.read_text()) for state in states]
    return max(states, key=lambda state: state["global_step"])["log_history"]


def interrupt(monkeypatch, at):
    forward, calls = SpanObjective.forward, []

    def stop(self, *args, **kwargs):
        calls.append(self.training)
        if sum(calls) == at:
            raise KeyboardInterrupt
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(SpanObjective, "forward", stop)


def words_of(tokenizer, lines, length=12):
    columns = Packer(tokenizer, length)({"text": lines})
    sequences = []
    for ids, numbers in zip(columns["input_ids"], columns["word_ids"], strict=True):
        assert len(ids) <= length
        tokens, words = tokenizer.convert_ids_to_tokens(ids), {}
        for token, word in zip(tokens, numbers.tolist(), strict=True):
            if word != NO_WORD:
                words[word] = words.get(word, "") + token.replace("##", "")
        sequences.append(list(words.values()))
    return sequences


class TestPacking:
    def test_nothing_is_lost_and_no_word_is_cut(self, tokenizer):
        random = np.random.default_rng(0)
        some = ["new", "unbelievable", "cinema", "the", "played", "of"]
        lines = [" ".join(random.choice(some, n)) for n in (3, 70, 1, 5, 12)]
        sequences = words_of(tokenizer, lines)
        assert [*chain.from_iterable(sequences)] == " ".join(lines).split()
        sizes = [len(tokenizer.tokenize(" ".join(words))) for words in sequences]
        # A sequence that is not the last has no room for another word.
        longest = max(len(tokenizer.tokenize(word)) for word in some)
        assert min(sizes[:-1]) > 10 - longest

    def test_a_sequence_is_what_the_tokenizer_makes_of_its_text(self, tokenizer):
        columns = Packer(tokenizer, 12)({"text": ["New York plays"]})
        expected = tokenizer("New York plays")
        assert columns["input_ids"][0].tolist() == expected["input_ids"]
        ids, words = expected.word_ids(), columns["word_ids"][0].tolist()
        assert [i is None for i in ids] == [word == NO_WORD for word in words]
        pairs = [a == b for a in ids for b in ids]
        assert [a == b for a in words for b in words] == pairs

    def test_no_sequence_joins_two_texts_of_a_table(self, tmp_path):
        (tmp_path / "t.csv").write_text("id,body\n1,a film\n2,b\n")
        lines = read_lines([tmp_path / "t.csv"], "body")["text"]
        assert list(lines) == ["a film", "", "b", ""]

    def test_empty_lines_end_texts_and_words_that_are_too_long_are_cut(self, tokenizer):
        lines = ["the new", "city", "", "is it", "", "", "good"]
        words = [["the", "new", "city"], ["is", "it"], ["good"]]
        assert words_of(tokenizer, lines) == words
        lines = ["new " + "x" * 35 + " york", "y" * 25]
        joined = "".join([*chain.from_iterable(words_of(tokenizer, lines))])
        assert joined == "".join(lines).replace(" ", "")


def test_each_pass_has_masks_of_its_own(tokenizer):
    lines = ["the new york city is unbelievable", ""] * 9
    rows = Packer(tokenizer, 40)({"text": lines})
    rows = Passes(Dataset.from_dict(rows), 1)
    collator = SpanMaskingCollator(tokenizer, share=0.3)

    def labels(n_pass):
        rows.n_pass = n_pass
        return [collator.mask(rows[i]).labels.tolist() for i in range(len(rows))]

    assert len(set(map(tuple, labels(1)))) > 1  # each row has others
    assert labels(1) == labels(1) != labels(2)


LONG = ("--steps=11",)


@pytest.fixture(scope="module")
def whole(model, text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "o"
    return folder, train(model, text, folder, *LONG).stderr


class TestOutput:
    def test_is_an_encoder(self, whole, model):
        output, _ = whole
        encoder, loading = AutoModel.from_pretrained(output, output_loading_info=True)
        # Heads for masked words have no use for a pooler, so nobody trained one.
        assert all(key.startswith("pooler.") for key in loading["missing_keys"])
        heads = ("cls.", "boundary.")
        assert all(key.startswith(heads) for key in loading["unexpected_keys"])
        before = AutoModel.from_pretrained(model)
        name = "encoder.layer.0.output.dense.weight"
        now, then = (m.get_parameter(name) for m in (encoder, before))
        assert not torch.equal(now, then)
        assert AutoTokenizer.from_pretrained(output).is_fast
        assert not list(output.glob(".*"))

    def test_shows_how_far_it_came(self, whole):
        output, printed = whole
        lines = log(output)
        assert [line["step"] for line in lines if "loss" in line] == [*range(1, 12)]
        measured = [line for line in lines if "eval_perplexity" in line]
        steps = [line["step"] for line in measured]
        # transformers 5 evaluates at the end, too.
        assert steps in ([3, 6, 9], [3, 6, 9, 11])
        last = measured[-1]
        perplexity = math.exp(last["eval_mlm_loss"])
        assert last["eval_perplexity"] == pytest.approx(perplexity, rel=1e-6)
        assert f"Wrote {output}: 11 steps, held-out perplexity" in printed

    def test_heads_go_on(self, whole, text, tmp_path):
        output, _ = whole
        before = weights(output)
        assert "cls.predictions.transform.dense.weight" in before
        assert "boundary.positions.weight" in before
        # With nothing learned in between, all is as it was.
        settings = Settings(steps=1, learning_rate=0.0, eval_share=0.0)
        pretrain(output, text, tmp_path / "on", settings)
        assert same(weights(tmp_path / "on"), before)


class TestTraining:
    def test_learns(self, tmp_path):
        model = save_bert(tmp_path / "m", width=32, max_length=40)
        # What stands on both sides says what is between.
        some = ["the", "new", "city", "is", "good", "film", "not", "in"]
        lines = [" ".join([word] * 60) for word in some]
        (tmp_path / "t.txt").write_text("\n\n".join(lines * 4))
        sizes = {"steps": 30, "batch_size": 16, "accumulate": 1, "save_every": 10}
        settings = Settings(**sizes, learning_rate=2e-2, eval_share=0.1)
        done = pretrain(model, [tmp_path / "t.txt"], tmp_path / "o", settings)
        lines = [line for line in log(tmp_path / "o") if "eval_loss" in line]
        curve = [line["eval_perplexity"] for line in lines]
        assert curve == sorted(curve, reverse=True)
        assert curve[-1] < 3
        assert done.perplexity == pytest.approx(curve[-1])
        assert lines[-1]["eval_sbo_perplexity"] < 0.5 * lines[0]["eval_sbo_perplexity"]

    def test_small_batches_make_the_same_step(self, text, tmp_path):
        model = save_bert(tmp_path / "m", max_length=40)  # which forgets nothing
        shared = {"steps": 2, "eval_share": 0.0, "learning_rate": 1e-2}
        for name, batch, accumulate in (("a", 4, 1), ("b", 2, 2)):
            settings = Settings(batch_size=batch, accumulate=accumulate, **shared)
            pretrain(model, [text], tmp_path / name, settings)
        first, second = weights(tmp_path / "a"), weights(tmp_path / "b")
        for key, weight in first.items():
            assert torch.allclose(weight, second[key], atol=2e-5), key

    def test_n_grams_without_boundaries_from_scratch(self, text, tmp_path):
        model = save_encoder(tmp_path / "m", "roberta", max_length=40)
        (model / "model.safetensors").unlink()  # only its shape is needed
        NgramDictionary({"new york": 2}).to_disk(tmp_path / "d.tsv.gz")
        options = (f"--dictionary={tmp_path / 'd.tsv.gz'}", "--from-scratch")
        options += ("--masking=ngrams", "--no-sbo", "--steps=3")
        train(model, text, tmp_path / "o", *options)
        assert "boundary.positions.weight" not in weights(tmp_path / "o")
        names = {name for line in log(tmp_path / "o") for name in line}
        assert "eval_mlm_loss" in names
        assert "eval_sbo_loss" not in names
        config = AutoModelForMaskedLM.from_pretrained(tmp_path / "o").config
        assert (config.num_hidden_layers, config.hidden_size) == (1, 16)

    def test_epochs_of_a_compressed_file(self, model, text, tokenizer, tmp_path):
        rows = Packer(tokenizer, 40)({"text": text.read_text().splitlines()})
        n_train = math.floor(0.8 * len(rows["input_ids"]))
        packed = tmp_path / "b.txt.gz"
        packed.write_bytes(gzip.compress(text.read_bytes()))
        settings = Settings(**{**TINY, "batch_size": 8, "epochs": 0.5})
        done = pretrain(model, packed, tmp_path / "o", settings)
        assert done.steps == math.ceil(0.5 * n_train / 8)


class TestResume:
    # In the first pass over the text and in the second, in mid-step.
    @pytest.mark.parametrize("at", [2, 10])
    def test_a_resumed_training_ends_where_it_would_have(
        self, model, text, whole, tmp_path, monkeypatch, at
    ):
        with monkeypatch.context() as patch:
            interrupt(patch, at)
            printed = train(model, text, tmp_path / "b", *LONG, ok=False)
        assert "Run the same command again to resume" in printed.stderr
        assert not (tmp_path / "b" / "config.json").exists()
        train(model, text, tmp_path / "b", *LONG)
        assert same(weights(whole[0]), weights(tmp_path / "b"))
        names = ("step", "loss", "eval_perplexity", "learning_rate")
        logs = [log(whole[0]), log(tmp_path / "b")]
        first, second = ([[x.get(n) for n in names] for x in lines] for lines in logs)
        assert first == second

    def test_half_a_checkpoint_is_passed_over(self, model, text, whole, tmp_path):
        """And nothing more is done after the last step, but to write the output."""
        output = tmp_path / "a"
        shutil.copytree(whole[0], output)
        last = output / CHECKPOINTS / "checkpoint-11"
        state = last / "trainer_state.json"
        state.write_bytes(state.read_bytes()[:50])
        (last / "optimizer.pt").write_bytes(b"half")
        for _ in range(2):
            train(model, text, output, *LONG)
            assert same(weights(output), weights(whole[0]))
            assert AutoTokenizer.from_pretrained(output).is_fast
            assert log(output)[-1]["step"] == 11  # its state is whole again
            for name in ("config.json", "model.safetensors", "tokenizer.json"):
                (output / name).unlink()

    def test_other_settings_and_models_within_need_to_be_asked_for(
        self, model, text, whole, tmp_path
    ):
        output, expected = tmp_path / "a", weights(whole[0])
        shutil.copytree(whole[0], output)
        options = (output, *LONG, "--share=0.2")
        printed = train(model, text, *options, ok=False)
        assert "was begun with share = 0.15, not 0.2" in printed.stderr
        other = tmp_path / "other" / text.name
        other.parent.mkdir()
        other.write_bytes(text.read_bytes() + b"\nmore\n")
        record = output / "pretraining.json"
        record.write_text(record.read_text().replace(str(text), str(other)))
        printed = train(model, other, output, *LONG, ok=False)
        assert "The text or the dictionary of the training" in printed.stderr
        shutil.copy(whole[0] / "pretraining.json", record)
        for source in (output, output / CHECKPOINTS / "checkpoint-11"):
            printed = train(source, text, output, "--overwrite", ok=False)
            assert "would be overwritten" in printed.stderr
        assert same(weights(output), expected)
        train(model, text, output, "--steps=3", "--share=0.2", "--overwrite")
        assert not same(weights(output), expected)

    def test_nothing_of_others_is_touched(self, model, text, tmp_path):
        theirs = tmp_path / "a" / CHECKPOINTS / "checkpoint-3"
        theirs.mkdir(parents=True)
        (theirs / "weights.pt").write_bytes(b"mine")
        printed = train(model, text, tmp_path / "a", "--overwrite", ok=False)
        assert "has other files. Name another folder" in printed.stderr
        assert (theirs / "weights.pt").read_bytes() == b"mine"


def test_wrong_input(model, text, tokenizer, tmp_path):
    def error(model, text, *options):
        printed = train(model, text, tmp_path / "o", *options, ok=False)
        (line,) = (x for x in printed.stderr.splitlines() if x.startswith("✘"))
        return line

    tokenizer.save_pretrained(tmp_path / "gpt2")
    (tmp_path / "gpt2" / "config.json").write_text('{"model_type": "gpt2"}')
    assert "is of type 'gpt2'" in error(tmp_path / "gpt2", text)
    assert "cannot be loaded" in error(tmp_path / "no", text)
    file = tmp_path / "t.txt"
    assert "There is no file" in error(model, file)
    for data, message in ((b"\n \n", "no text in"), (b"caf\xe9\n", "--errors rep")):
        file.write_bytes(data)
        assert message in error(model, file)
    too_long = "max_length is 65, but must be from 3 to 40"
    assert too_long in error(model, text, "--max-length=65")
    assert "Only masking='ngrams' uses" in error(model, text, "--dictionary=x")
