"""The arms, the regimes, and the settings that were chosen for them."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

from .tasks import TASKS, Kind, Task

Run = dict[str, Any]
Regime = Literal["everything", "rates", "head-first"]

BASELINE = "encoder"
SIZES = (100, 300, 1000)
# The size at which everything was scored.
MAIN_SIZE = 300
# The epochs of a text classifier; a tagger gets twice as many.
EPOCHS = {100: 20, 300: 10, 1000: 5, 10_000: 2}
HEAD_RATE = 1e-3

_RANDOM = {"@segmenters": "spacy-spanft.RandomSegmenter.v1"}
_NLTK = {"@segmenters": "spacy-spanft.NltkChunkSegmenter.v1", "chunker": "phrases"}
_V2 = {"@architectures": "spacy-spanft.SpanTok2Vec.v2"}


class Arm(NamedTuple):
    """What an arm changes in the config of a task.

    segmentation (Optional[str]): "spans", "none" for windows over the whole text, or
        None for the baseline.
    segmenter (Optional[dict]): The block of another segmenter.
    block (dict): Settings of the block that pools the spans.
    """

    segmentation: str | None = "spans"
    segmenter: dict[str, Any] | None = None
    block: dict[str, Any] = {}  # noqa: RUF012 (never written to)


ARMS = {
    # [CLS], or each token alone; the mean of the wordpieces; both texts compared.
    **dict.fromkeys((BASELINE, "mean", "pair"), Arm(None)),
    **dict.fromkeys(("cnn", "mean-cnn"), Arm("none")),
    **dict.fromkeys(("ngrams", "mean-ngrams", "pair-ngrams"), Arm()),
    **dict.fromkeys(("random", "mean-random", "pair-random"), Arm(segmenter=_RANDOM)),
    "nltk": Arm(segmenter=_NLTK),
    "no-cls": Arm(block={"use_cls": False}),
    # The maximum over the token's span beside windows over the whole text.
    "wide": Arm(block=_V2),
    "wide-random": Arm(segmenter=_RANDOM, block=_V2),
}
# The arms of the paper's head, and its controls.
PAPER = (BASELINE, "cnn", "random", "ngrams")


class Chosen(NamedTuple):
    """The head that did best on held-out data of a kind of task, and its controls.

    best (str): The head over n-grams.
    twin (str): The same head over random spans.
    bare (str): The same head without spans.
    init (str): The one that `init` writes.
    no_spans (str): What `init --no-spans` writes.
    """

    best: str
    twin: str
    bare: str
    init: str
    no_spans: str


CHOSEN: dict[Kind, Chosen] = {
    "labels": Chosen("mean-ngrams", "mean-random", "mean", "mean-ngrams", "mean"),
    "scores": Chosen("pair-ngrams", "pair-random", "pair", "pair-ngrams", "pair"),
    "tokens": Chosen("wide", "wide-random", "cnn", "cnn", BASELINE),
}


def arms_of(task: Task) -> tuple[str, ...]:
    """Return the arms that a task is run with by default."""
    return tuple(dict.fromkeys((*PAPER, *CHOSEN[task.kind])))


def main_regime(task: Task) -> Regime:
    """Return the regime in which the arms of a task are compared.

    On held-out data a new tagger learned a little less where the encoder moved from the
    first step on; for texts the order changed nothing.
    """
    return "everything" if task.text else "head-first"


def settings_of(task: Task, arm: str, regime: Regime, size: int) -> dict[str, Any]:
    """Return the rates and epochs that were chosen on held-out training data.

    Four settings were tried for each kind of head, with 300 labels. All arms of a task
    got the same ones in its main regime.
    """
    rate, factor = (1e-4, 1) if task.text else (2e-4, 2)
    is_baseline = arm.split("-")[0] in (BASELINE, "mean", "pair") and "-" not in arm
    if task.text and regime == "head-first" and not is_baseline:
        rate = 2e-4
    head_rate = rate if regime == "everything" else HEAD_RATE
    return {"rate": rate, "head_rate": head_rate, "epochs": factor * EPOCHS[size]}


def runs(
    tasks: Sequence[str],
    arms: Sequence[str],
    sizes: Sequence[int],
    seeds: int,
    regime: Regime | None = None,
) -> Iterator[Run]:
    """Yield runs as they are recorded, all of a size and seed before the next.

    arms (Sequence[str]): The arms; none for those of each task.
    regime (Optional[Regime]): None for the main one of each task.
    """
    for size, seed, name in product(sizes, range(seeds), tasks):
        task = TASKS[name]
        how = regime or main_regime(task)
        for arm in arms or arms_of(task):
            run = {"task": name, "size": size, "arm": arm, "regime": how, "seed": seed}
            yield {
                **run,
                **settings_of(task, arm, how, size),
                **{"part": "dev", "head": "v1"},
            }
