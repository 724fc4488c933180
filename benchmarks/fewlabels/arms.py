"""The arms, the regimes, and which of them are run on a task.

An arm is what the package's own matrix calls one: settings on top of a shipped config.
A regime is settings on top of that.
"""

from typing import NamedTuple

from spacy_spanft.experiments.matrix.arms import ArmConfig

from .adapting import MASKINGS
from .heads import EDGES, GATED, NORMED, NOTHING, RESIDUAL, SHARED
from .lattice import LATTICE
from .segmenters import CAPITALS, DRAWN, GAPS, ORACLE, WORDS
from .tasks import TASKS, Kind, Task

BASELINE = "encoder"
# Where everything is scored; other sizes have what the question needs.
MAIN_SIZE = 300

_RANDOM = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}
_NLTK = {"@segmenters": "spacy-spanft.NltkChunkSegmenter.v1", "chunker": "phrases"}
_ENTITIES = {**_NLTK, "chunker": "entities"}
_GAPS = {"@segmenters": GAPS}
_WORDS = {"@segmenters": WORDS}
_DRAWN = {"@segmenters": DRAWN}
_CAPITALS = {"@segmenters": CAPITALS}
_WITHOUT = {"segmentation": "none"}
MEAN = {"@layers": "reduce_mean.v1"}
_MEANS = {"span_pooling": MEAN, "doc_pooling": MEAN}
_MAX = {"@architectures": "spacy-spanft.MaxPooling.v1"}
_MAXIMA = {"span_pooling": _MAX, "doc_pooling": _MAX}
_RESIDUAL = {"@architectures": RESIDUAL, "kernel_size": 3}
_RESIDUALS = {"span_pooling": _RESIDUAL, "doc_pooling": _RESIDUAL}
_RESIDUAL_MEAN = {"span_pooling": _RESIDUAL, "doc_pooling": MEAN}
_NORMED = {"doc_pooling": {"@architectures": NORMED, "kernel_size": 3}}
_SHARED = {"@architectures": SHARED}
_NOT_POOLED = {"span_pooling": _MAX, "doc_pooling": {"@architectures": NOTHING}}
_GATED = {"@architectures": GATED}
_LATTICE = {"@architectures": LATTICE}
_EDGES = {"@architectures": EDGES}
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
# Of what is compared: whether it is phrases, or spans that are cut alike, or tokens.
CONTROLS: dict[Kind, tuple[str, ...]] = {"scores": ("pair-words", "pair-drawn")}
_COMPARED = ("pair", "pair-random", "pair-ngrams", "pair-zero")
_ONLY_PAIRS = ("pair-gate", "pair-spans", *CONTROLS["scores"])
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
    no_spans (str): What `init --no-spans` writes.
    """

    ngrams: str
    random: str
    bare: str
    init: str
    no_spans: str


V1_ARMS = (BASELINE, "cnn", "random", "ngrams")
CHOSEN: dict[Kind, Chosen] = {
    "labels": Chosen("mean-ngrams", "mean-random", "mean", "mean-ngrams", "mean"),
    "scores": Chosen("pair-ngrams", "pair-random", "pair", "pair-ngrams", "pair"),
    "tokens": Chosen("wide", "wide-random", "cnn", "cnn", BASELINE),
}
# How large the default dictionary is cut for tasks of a curve over its sizes.
CUT = {"top-1000": 1000, "top-10000": 10_000}
CURVE_TASKS = ("CoLA", "MRPC")
_REST = ("nltk", "task", "pmi")
REGIMES = ("everything", "rates", "head-first")
# Whose settings an arm takes, if not those of n-grams: like heads are tuned once.
TUNED_AS = {name: name for name in ("encoder", "mean", "cnn")}
TUNED_AS |= dict.fromkeys(("lower", "token-mean", "pair", *MASKINGS), "encoder")
TUNED_AS |= {"pair-mean": "mean"}


def arms_of(name: str) -> tuple[str, ...]:
    """Name the arms that are scored on a task."""
    task = TASKS[name]
    # Tokens have vectors of their own: no text is summed up.
    of_texts = ("mean", "no-cls") if task.text else ()
    cut = (*CUT,) if name in CURVE_TASKS else ()
    windows = ("mean-cnn",) if task.kind == "labels" else ()
    own = (*CHOSEN[task.kind], *CONTROLS.get(task.kind, ()))
    arms = (*V1_ARMS, *own, *_REST, *of_texts, *windows, *cut)
    return tuple(dict.fromkeys(arms))


def core_arms(name: str, size: int) -> tuple[str, ...]:
    """Name those that a size has with all seeds.

    The heads over n-grams are compared with random spans at one size. Only of scores,
    where the spans of two texts are compared and n-grams did better than random spans,
    they are at all of them, with more controls: to see whether that was chance. What
    `init --no-spans` writes is at all of them.

    name (str): The task.
    size (int): How many labels there are.
    RETURNS (tuple[str, ...]): The arms.
    """
    kind = TASKS[name].kind
    has_twins = size == MAIN_SIZE or kind == "scores"
    own = CHOSEN[kind]
    chosen = own if has_twins else (own.ngrams, own.init, own.bare)
    return tuple(dict.fromkeys((*V1_ARMS, *chosen, *CONTROLS.get(kind, ()))))


def main_regime(task: Task) -> str:
    """Name the regime that all arms of a task are run in.

    On held-out data a new tagger learned a little less where the encoder moved at once
    than where it waited (WNUT17, 300 labels: an F of 46.6 against 47.3 for the encoder
    alone, 46.0 against 48.8 with n-grams); for texts the order changed nothing.
    """
    return "everything" if task.text else "head-first"
