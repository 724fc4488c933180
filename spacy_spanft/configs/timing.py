"""About how long a training takes on this machine, from two of its steps."""

from itertools import islice
from random import Random
from time import perf_counter

from spacy.training import Example
from spacy.training.loop import subdivide_batch
from spacy.util import load_model_from_config, registry, resolve_dot_names

from ..ml.parameter_groups import bind
from ..training.tuning import to_choose
from .fitting import VERY_LONG, Made

_N_SAMPLED = 500
# What imports take, and a prediction in shares of a training step.
_SECONDS_OF_IMPORTS = 8.0
_SHARE_OF_PREDICTION = 0.35


def training_seconds(made: Made) -> float:
    """Return about how many seconds `spacy train` takes on this CPU; 0 if unknown."""
    if max(made.data["train"].n_words) > VERY_LONG:
        return 0.0  # a step would take long, and tell little
    begin = perf_counter()
    nlp = load_model_from_config(made.config, auto_fill=True)
    nlp.config["initialize"]["after_init"] = None
    config = nlp.config.interpolate()
    settings = config["training"]
    (corpus,) = resolve_dot_names(config, [settings["train_corpus"]])
    examples = list(islice(corpus(nlp), _N_SAMPLED))
    Random(0).shuffle(examples)
    optimizer = nlp.initialize(lambda: corpus(nlp))
    bind(nlp)
    batcher = registry.resolve({"batcher": settings["batcher"]})["batcher"]
    batches = list(islice(batcher(examples), 2))

    def update(batch: list[Example]) -> None:
        for part in subdivide_batch(batch, settings["accumulate_gradient"]):
            nlp.update(part, sgd=optimizer, annotates=settings["annotating_components"])

    update(examples[:2])  # the first step takes longer
    before = perf_counter()
    for batch in batches:
        update(batch)
    steps = perf_counter() - before
    n_train, n_dev = (len(summary.n_words) for summary in made.data.values())
    n_steps = settings["max_steps"]
    n_evaluations = 1 + n_steps // settings["eval_frequency"]
    n_predicted = n_evaluations * n_dev
    start = made.config["initialize"]["after_init"]
    if start.get("probe"):
        n_predicted += n_train
    if contrast := start.get("contrast", 0):
        n_halves, n_trials = to_choose(len(made.data["train"].texts), contrast)
        n_steps += contrast + 2 * n_halves * n_trials
        n_predicted += n_train * (1 + 2 * n_halves)
    per_text = _SHARE_OF_PREDICTION * steps / sum(map(len, batches))
    seconds = n_steps * steps / len(batches) + n_predicted * per_text
    return seconds + _SECONDS_OF_IMPORTS + before - begin


def duration(seconds: float) -> str:
    """Return a rounded time: "40 seconds"."""
    if seconds < 100:
        return f"{max(10, round(seconds, -1)):.0f} seconds"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
