"""The arms, the regimes, and the config that a run trains.

An arm is what the package's own matrix calls one: settings on top of a shipped config.
A regime is settings on top of that.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from confection import Config

from spacy_spanft import NgramDictionary, default_dictionary
from spacy_spanft.experiments.matrix.arms import ArmConfig, Pipeline, change, config_of

from .adapting import MASKINGS
from .heads import EDGES, GATED, NORMED, NOTHING, RESIDUAL, SHARED
from .lattice import LATTICE
from .segmenters import CAPITALS, DRAWN, GAPS, ORACLE, WORDS
from .tasks import TASKS, Data, Kind, Task

BASELINE = "encoder"
# Where everything is scored; other sizes have what the question needs.
MAIN_SIZE = 300
# What a dictionary needs to have in common with the default one to be as large.
TOP_BY_PMI = 20_000
MIN_COUNT = 3

_RANDOM = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}
_NLTK = {"@segmenters": "spacy-spanft.NltkChunkSegmenter.v1", "chunker": "phrases"}
_ENTITIES = {**_NLTK, "chunker": "entities"}
_GAPS = {"@segmenters": GAPS}
_WORDS = {"@segmenters": WORDS}
_DRAWN = {"@segmenters": DRAWN}
_CAPITALS = {"@segmenters": CAPITALS}
_WITHOUT = {"segmentation": "none"}
_MEAN = {"@layers": "reduce_mean.v1"}
_MEANS = {"span_pooling": _MEAN, "doc_pooling": _MEAN}
_MAX = {"@architectures": "spacy-spanft.MaxPooling.v1"}
_MAXIMA = {"span_pooling": _MAX, "doc_pooling": _MAX}
_RESIDUAL = {"@architectures": RESIDUAL, "kernel_size": 3}
_RESIDUALS = {"span_pooling": _RESIDUAL, "doc_pooling": _RESIDUAL}
_RESIDUAL_MEAN = {"span_pooling": _RESIDUAL, "doc_pooling": _MEAN}
_NORMED = {"doc_pooling": {"@architectures": NORMED, "kernel_size": 3}}
_SHARED = {"@architectures": SHARED}
_NOT_POOLED = {"span_pooling": _MAX, "doc_pooling": {"@architectures": NOTHING}}
_GATED = {"@architectures": GATED}
_LATTICE = {"@architectures": LATTICE}
_EDGES = {"@architectures": EDGES}
_V1 = {"@architectures": "spacy-spanft.SpanTok2Vec.v1"}
_WIDE = {"@architectures": "spacy-spanft.SpanTok2Vec.v2"}
ARMS = {
    arm.name: arm
    for arm in (
        ArmConfig(BASELINE, config="baseline", note="[CLS], or the tokens alone"),
        ArmConfig("mean", config="baseline", note="the mean of the wordpieces"),
        ArmConfig("cnn", block=_WITHOUT),
        ArmConfig("random", segmenter=_RANDOM),
        ArmConfig("nltk", segmenter=_NLTK, note="NLTK's phrases (NP, VP, PP)"),
        ArmConfig("ngrams", note="the default dictionary"),
        ArmConfig("no-cls", block={"use_cls": False}, note="n-grams without [CLS]"),
        ArmConfig("means", block=_MEANS, note="the mean of the n-grams' means"),
        ArmConfig("means-random", block=_MEANS, segmenter=_RANDOM),
        ArmConfig("max", block=_MAXIMA, note="the maximum of the n-grams' maxima"),
        ArmConfig("zero", note="n-grams, whose weights begin at zero"),
        ArmConfig("residual", block=_RESIDUALS, note="n-grams, from their maximum on"),
        ArmConfig("residual-zero", block=_RESIDUALS),
        ArmConfig("residual-mean", block=_RESIDUAL_MEAN),
        ArmConfig("residual-mean-random", block=_RESIDUAL_MEAN, segmenter=_RANDOM),
        ArmConfig("mean-cnn", block=_WITHOUT),
        ArmConfig("mean-random", segmenter=_RANDOM),
        ArmConfig("mean-ngrams", note="n-grams beside the mean of the wordpieces"),
        ArmConfig("mean-zero", note="the same, whose weights begin at zero"),
        ArmConfig("mean-residual", block=_RESIDUAL_MEAN, note="both"),
        ArmConfig("mean-norm", block=_NORMED, note="n-grams, normalized"),
        ArmConfig("mean-shared", block=_SHARED, note="both levels alike"),
        ArmConfig("mean-gate", block=_GATED, note="n-grams, as far as a gate opens"),
        ArmConfig("mean-lattice", block=_LATTICE, note="n-grams that overlap"),
        ArmConfig("mean-mix", note="n-grams, over a learned mix of the layers"),
        ArmConfig("mix", block=_WITHOUT, note="windows, over the same"),
        ArmConfig("mean-dropout", note="n-grams, others in each epoch"),
        ArmConfig("mean-taught", note="texts without labels, cut in two ways"),
        ArmConfig("mean-self", note="texts without labels, cut in one way"),
        ArmConfig("own-spans", config="baseline", note="adapted: spans masked"),
        ArmConfig("own-ngrams", config="baseline", note="adapted: n-grams masked"),
        ArmConfig("token-mean", config="baseline", note="not the first wordpiece"),
        ArmConfig("edges", block=_EDGES, note="windows that know where spans begin"),
        ArmConfig("edges-random", block=_EDGES, segmenter=_RANDOM),
        ArmConfig("gaps", segmenter=_GAPS, note="n-grams, and what is between them"),
        ArmConfig("edges-gaps", block=_EDGES, segmenter=_GAPS),
        ArmConfig("edges-entities", block=_EDGES, segmenter=_ENTITIES),
        ArmConfig("edges-capitals", block=_EDGES, segmenter=_CAPITALS),
        ArmConfig("wide", block=_WIDE, note="spans beside windows over the text"),
        ArmConfig("wide-random", block=_WIDE, segmenter=_RANDOM),
        ArmConfig("entities", segmenter=_ENTITIES, note="NLTK's named entities"),
        ArmConfig("wide-entities", block=_WIDE, segmenter=_ENTITIES),
        ArmConfig(
            "oracle", segmenter={"@segmenters": ORACLE}, note="it knows entities"
        ),
        ArmConfig("task", note="n-grams counted on the task's training texts"),
        ArmConfig("pmi", note="the default dictionary's best by PMI"),
        ArmConfig("top-1000", note="the default dictionary's most frequent n-grams"),
        ArmConfig("top-10000"),
        ArmConfig(
            "lower", config="baseline", note="the lower two thirds of the layers"
        ),
        ArmConfig("lower-ngrams", note="the same, with the default dictionary"),
        ArmConfig("pair", config="baseline", note="[CLS], and both texts compared"),
        ArmConfig("pair-random", segmenter=_RANDOM),
        ArmConfig("pair-words", segmenter=_WORDS, note="tokens, compared as well"),
        ArmConfig("pair-drawn", segmenter=_DRAWN, note="n-grams drawn at random"),
        ArmConfig("pair-ngrams", note="n-grams, compared as well"),
        ArmConfig("pair-zero", note="the same, whose weights begin at zero"),
        ArmConfig("pair-spans", block=_NOT_POOLED, note="n-grams, only compared"),
        ArmConfig("pair-gate", block=_GATED, note="the same, as far as a gate opens"),
        ArmConfig("pair-mean", config="baseline", note="compared, beside the mean"),
        ArmConfig("pair-mean-random", segmenter=_RANDOM),
        ArmConfig("pair-mean-ngrams"),
    )
}
# Heads that are tried on held-out data: on all tasks, on texts, on pairs of texts, on a
# few tasks with texts, and on tokens.
TRIED_EVERYWHERE = ("gaps", "lower", "lower-ngrams", *MASKINGS)
_BESIDE_MEAN = (
    *("mean-cnn", "mean-random", "mean-ngrams", "mean-zero"),
    *("mean-residual", "mean-norm", "mean-shared", "mean-dropout"),
    *("mean-gate", "mean-lattice", "mean-mix"),
)
# Whether a classifier learns from other cuts of a text than those it labels it with.
TAUGHT = {"mean-taught": True, "mean-self": False}
TRIED_TEXTS = (*_BESIDE_MEAN, "residual-mean", "residual-mean-random")
_PAIRS_BESIDE_MEAN = ("pair-mean", "pair-mean-random", "pair-mean-ngrams")
_COMPARED = ("pair", "pair-random", "pair-ngrams", "pair-zero")
_ONLY_PAIRS = ("pair-gate", "pair-spans", "pair-words", "pair-drawn")
TRIED_PAIRS = (*_COMPARED, *_ONLY_PAIRS, *_PAIRS_BESIDE_MEAN)
TRIED_BRIEFLY = ("means", "means-random", "max", "zero", "residual", "residual-zero")
_EDGES_AND_WIDE = ("edges", "edges-random", "edges-gaps", "wide", "wide-random")
_KNOWING = ("entities", "wide-entities", "edges-entities", "edges-capitals", "oracle")
TRIED_TOKENS = ("token-mean", *_EDGES_AND_WIDE, *_KNOWING, "mix")
# Where the mean of the wordpieces takes the place of [CLS].
OF_MEAN = ("mean", *_BESIDE_MEAN, *TAUGHT, *_PAIRS_BESIDE_MEAN)
# Whose spans are others in each epoch.
DROPPED = ("mean-dropout",)
# Whose encoder gives a learned mix of its layers.
MIXED = ("mean-mix", "mix")
# Those that begin as their baseline does.
ZERO = ("zero", "residual-zero", "mean-zero", "pair-zero")


class Chosen(NamedTuple):
    """What did best on held-out data on tasks of a kind, and what it is compared with.

    ngrams (str): The head over n-grams.
    random (str): The same with random spans.
    bare (str): The same without its spans.
    init (str): Which of them `init` writes.
    """

    ngrams: str
    random: str
    bare: str
    init: str


V1_ARMS = (BASELINE, "cnn", "random", "ngrams")
CHOSEN: dict[Kind, Chosen] = {
    "labels": Chosen("mean-ngrams", "mean-random", "mean", init="mean-ngrams"),
    "scores": Chosen("pair-ngrams", "pair-random", "pair", init="pair-ngrams"),
    "tokens": Chosen("wide", "wide-random", "cnn", init="cnn"),
}
# How large the default dictionary is cut for tasks of a curve over its sizes.
CUT = {"top-1000": 1000, "top-10000": 10_000}
CURVE_TASKS = ("CoLA", "MRPC")
_REST = ("nltk", "task", "pmi")
# Of what is compared, whether it is phrases, or spans that are cut alike, or tokens.
CONTROLS: dict[Kind, tuple[str, ...]] = {
    "labels": (),
    "scores": ("pair-words", "pair-drawn"),
    "tokens": (),
}
REGIMES = ("everything", "rates", "head-first")
# Whose settings an arm takes, if not those of n-grams: like heads are tuned once.
TUNED_AS = {name: name for name in ("encoder", "mean", "cnn")}
TUNED_AS |= dict.fromkeys(("lower", "token-mean", "pair", *MASKINGS), "encoder")
TUNED_AS |= {"pair-mean": "mean"}

_OPTIMIZER = "training.optimizer"
_RATE = f"{_OPTIMIZER}.learn_rate"


def arms_of(name: str) -> tuple[str, ...]:
    """Name the arms that are scored on a task."""
    task = TASKS[name]
    # Tokens have vectors of their own: no text is summed up.
    of_texts = ("mean", "no-cls") if task.text else ()
    cut = (*CUT,) if name in CURVE_TASKS else ()
    windows = ("mean-cnn",) if task.kind == "labels" else ()
    own = (*CHOSEN[task.kind], *CONTROLS[task.kind])
    arms = (*V1_ARMS, *own, *_REST, *of_texts, *windows, *cut)
    return tuple(dict.fromkeys(arms))


def core_arms(name: str, size: int) -> tuple[str, ...]:
    """Name those that a size has with all seeds.

    The heads over n-grams are compared with their twins at one size. Only of scores,
    where the spans of two texts are compared and n-grams did better than random spans,
    they are at all of them: to see whether that was chance.

    name (str): The task.
    size (int): How many labels there are.
    RETURNS (tuple[str, ...]): The arms.
    """
    kind = TASKS[name].kind
    has_twins = size == MAIN_SIZE or kind == "scores"
    own = CHOSEN[kind]
    chosen = own if has_twins else (own.ngrams, own.init)
    return tuple(dict.fromkeys((*V1_ARMS, *chosen, *CONTROLS[kind])))


def main_regime(task: Task) -> str:
    """Name the regime that all arms of a task are run in.

    On held-out data a new tagger learned a little less where the encoder moved at once
    than where it waited (WNUT17, 300 labels: an F of 46.6 against 47.3 for the encoder
    alone, 46.0 against 48.8 with n-grams); for texts the order changed nothing.
    """
    return "everything" if task.text else "head-first"


def precision() -> str:
    """Choose what an encoder computes in here.

    bf16 takes three quarters of the time where the CPU has it, and moved none of three
    scores by half a point; elsewhere it takes fifty times as long.
    """
    know: Any = getattr(torch.cpu, "get_capabilities", dict)  # since PyTorch 2.8
    return "bf16" if know().get("avx512_bf16") else "single"


def config_for(
    task: Task, run: dict[str, Any], encoder: Path, files: dict[str, Path], steps: int
) -> Config:
    """Make the config of a run.

    task (Task): The task.
    run (dict[str, Any]): Its arm, regime, rates and seed.
    encoder (Path): The folder of the encoder.
    files (dict[str, Path]): The train and dev data, and the dictionaries.
    steps (int): How many steps it has.
    RETURNS (Config): The config.
    """
    arm = ARMS[run["arm"]]
    if run["arm"] in files:
        arm = arm._replace(dictionary=str(files[run["arm"]]))
    if not task.text and arm.config != "baseline":
        arm = arm._replace(block={**_V1, **arm.block})
    # `_regime` says how it is trained.
    config = config_of(arm._replace(regime="everything"), Pipeline(task.pipeline))
    settings: dict[str, Any] = {
        "paths.train": str(files["train"]),
        "paths.dev": str(files["dev"]),
        "paths.transformer": str(encoder),
        "system.seed": run["seed"],
        "components.transformer.model.precision": precision(),
        f"{_RATE}.initial_rate": run["rate"],
        "training.max_epochs": 0,
        "training.max_steps": steps,
        "training.eval_frequency": steps,
        **_corpora(task),
        **task.set,
        **_regime(run),
    }
    if task.text:
        # Said of all arms: the configs have other defaults than the paper's head.
        model = f"components.{task.component}.model"
        is_pair = run["arm"].startswith("pair")
        separator = "${nlp.tokenizer.separator}" if is_pair else None
        settings[f"{model}.summary"] = "mean" if run["arm"] in OF_MEAN else "cls"
        settings[f"{model}.pair_separator"] = separator
    if run["arm"] == "token-mean":
        settings[f"components.{task.component}.model.tok2vec.pooling"] = _MEAN
    if run["arm"].startswith("lower"):
        # The last layers of a sentence encoder know little of single tokens.
        layers = {"num_hidden_layers": _n_layers(encoder) * 2 // 3}
        settings["components.transformer.model.transformer_config"] = layers
    for place, value in settings.items():
        change(config, place, value, "the run")
    return config


def dictionaries(run: dict[str, Any], task: Task, data: Data, folder: Path) -> Any:
    """Write the dictionary that an arm needs, if it is not the default one.

    run (dict[str, Any]): The run.
    task (Task): The task.
    data (Data): Its data.
    folder (Path): Where to write it.
    RETURNS (dict[str, Path]): Its file, by the arm's name.
    """
    path = folder / "dictionary.tsv.gz"
    if run["arm"] in CUT:
        default_dictionary().top(CUT[run["arm"]]).to_disk(path)
    elif run["arm"] == "task":
        NgramDictionary.from_texts(texts_of(data, task), min_count=MIN_COUNT).to_disk(
            path
        )
    elif run["arm"] == "pmi":
        default_dictionary().top(TOP_BY_PMI, by="pmi").to_disk(path)
    else:
        return {}
    return {run["arm"]: path}


def texts_of(data: Data, task: Task) -> list[str]:
    """Give the texts that a seed could draw, without their labels."""
    if not task.text:
        blocks = (block.split("\n") for block in data.pool)
        return [" ".join(line.split()[0] for line in one if line) for one in blocks]
    names = data.header.split("\t")
    places = [i for i, name in enumerate(names) if name.startswith("sentence")]
    return [row.split("\t")[i] for row in data.pool for i in places]


def _n_layers(encoder: Path) -> int:
    config = json.loads((encoder / "config.json").read_text("utf8"))
    return int(config["num_hidden_layers"])


def _corpora(task: Task) -> dict[str, Any]:
    if task.text == "sentence":
        return {f"corpora.{part}.text": "sentence" for part in ("train", "dev")}
    if task.text:
        return {}
    reader = "spacy-spanft.ConllCorpus.v1"
    return {
        f"corpora.{part}": {"@readers": reader, "path": f"${{paths.{part}}}"}
        for part in ("train", "dev")
    }


def _regime(run: dict[str, Any]) -> dict[str, Any]:
    """Set the head's rate, and freeze the encoder for a tenth of the steps."""
    if run["regime"] == "everything":
        return {}
    callback: dict[str, Any] = {"@callbacks": "spacy-spanft.group_parameters.v1"}
    if run["regime"] == "head-first":
        name = "spacy-spanft.freeze_transformer.v1"
        callback = {"@callbacks": name, "until_share": 0.1}
    return {
        "training.before_update": callback,
        f"{_OPTIMIZER}.@optimizers": "spacy-spanft.GroupedAdam.v1",
        f"{_OPTIMIZER}.head_rate": {
            "@schedules": "spacy-spanft.warmup_linear.v1",
            "initial_rate": run["head_rate"],
        },
    }
