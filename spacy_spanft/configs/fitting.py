"""Fits a config to its data: epochs, windows, and the range of scores."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from math import ceil, floor
from operator import not_
from typing import NamedTuple

from confection import Config
from spacy.training import Example

from ..errors import SpanftError, counted, listed, shown
from ..training.contrast import HANDFUL, N_TEXTS
from ..training.probe import MOST_TEXTS
from ..training.readers.held_out import held_out
from ..training.schedules import MOST_STEPS
from .sources import data_format, read_data
from .summary import DataSummary, check_labels, summarize
from .templates import CLASSIFIERS, REGRESSOR, TASKS

# The windows of a classifier of long texts, in tokens, and the wordpieces of each.
_LONG = {"window": 384, "stride": 288}
_MAX_LENGTH = 512
_ACCUMULATE = 8
_SHARE_LONG = 0.05
_EPOCHS = 3
_MOST_EPOCHS = 20
_FEWEST_STEPS = 200
# So few texts are all trained on: those held out would teach more than they tell.
_FEW, _FEW_OF_A_LABEL = 500, 20
_STEPS_OF_FEW, _EPOCHS_OF_FEW = 150, 4
_OF_FEW_SENTENCES = 300, 8  # steps, and sentences of each
# A handful of texts is learned sooner. Multiples of 3, for three evaluations.
_FEWEST_OF_FEW, _STEPS_A_TEXT = 48, 3
# After a probe, pairs, scores, and a handful of texts are learned at a low rate.
_LOW_RATE = 2e-5
# Further training after contrast did not help.
_LOWEST_RATE = 5e-6
# A tagger of few sentences learns faster, but with fewer still, it finds too few
# entities if its head does.
_RATE_OF_FEW_SENTENCES = 1e-4
_FEWER_SENTENCES, _LOW_HEAD_RATE = 200, 3e-4
_TOO_RARE = 2
# In words: longer texts may take more memory than there is.
VERY_LONG = 5000


class Made(NamedTuple):
    """A config that is fitted to data, without spaCy's defaults.

    data (dict[str, DataSummary]): The contents of "train" and "dev"; {} without data.
    notes, warnings (list[str]): What the data hold, and what may spoil a training.
    changes (list[str]): The settings that were changed for the data.
    """

    config: Config
    task: str
    data: dict[str, DataSummary]
    notes: list[str]
    warnings: list[str]
    changes: list[str]


def fit_to_data(
    config: Config, task: str, train: str, dev: str | None, *, contrast: bool
) -> Made:
    """Read the data of a config, check it, and set what depends on it."""
    data, names = _read(config, task, train, dev)
    if not any(data["train"].n_words):
        raise SpanftError(f"All texts of {shown(train)} are empty.")
    warnings = _check_labels(data["train"], task, train)
    parts = ["dev"] if data["train"] is data["dev"] else names
    notes = [data[part].describe(names[part]) for part in parts]
    has_dev = dev is not None
    changes = fit_training(config, task, data, has_dev=has_dev, contrast=contrast)
    warnings += _doubts(data, names, train)
    return Made(config, task, data, notes, warnings, changes)


def fit_training(
    config: Config,
    task: str,
    data: Mapping[str, DataSummary],
    *,
    has_dev: bool,
    contrast: bool,
) -> list[str]:
    """Set the start, the steps, the windows and the range; return them in words.

    contrast (bool): Whether the encoder may learn before the training loop, in which
        case the span pooling learns nothing.
    """
    n_texts = len(data["train"].n_words)
    is_text = TASKS[task].component in CLASSIFIERS
    if is_text and n_texts <= MOST_TEXTS:
        config["initialize"]["after_init"]["probe"] = True
        if n_texts <= HANDFUL or task not in ("textcat", "textcat_multilabel"):
            config["training"]["optimizer"]["learn_rate"]["initial_rate"] = _LOW_RATE
    optimizer = config["training"]["optimizer"]
    if task == "bilou_ner" and "head_rate" in optimizer and n_texts <= _FEW:
        optimizer["learn_rate"]["initial_rate"] = _RATE_OF_FEW_SENTENCES
        if n_texts <= _FEWER_SENTENCES:
            optimizer["head_rate"]["initial_rate"] = _LOW_HEAD_RATE
    window = _fit_window(config, task, data["train"])
    has_contrast = contrast and task == "textcat" and window is None
    has_contrast = has_contrast and _suits_contrast(config, data["train"])
    if task == "textcat" and n_texts <= (HANDFUL if has_contrast else MOST_TEXTS):
        model = config["components"]["textcat"]["model"]
        # The length of a mean depends on the text's, and a classifier of few texts
        # would rely on it. A pre-trained pooler expects the mean as it is.
        if model.get("summary") == "mean" and not model.get("pooler"):
            model["summary"] = "unit_mean"
    if has_contrast:
        steps = _fit_contrast(config, n_texts)
    elif data["train"] is data["dev"] or (has_dev and n_texts <= _FEW):
        steps = _fit_few_steps(config, n_texts, is_text, has_dev=has_dev)
    else:
        steps = _fit_steps(config, n_texts)
    if data["train"] is data["dev"]:
        steps += " None is held out; for scores in training, add --dev."
    scores = _fit_range(config, task, [*data["train"].scores, *data["dev"].scores])
    return [*filter(None, (steps, window, scores))]


def _doubts(
    data: Mapping[str, DataSummary], names: Mapping[str, str], path: str
) -> Iterator[str]:
    """Yield what may spoil a training: shared or long texts, rare or unseen labels."""
    train, dev = data["train"], data["dev"]
    shared = train.texts.keys() & dev.texts.keys() - {""}
    if train is not dev and shared:
        both = f"Texts of {names['dev']} that are also trained on"
        yield f"{both}: {len(shared):,}. Its scores will be inflated."
    if (longest := max(train.n_words)) > VERY_LONG:
        yield (
            f"The longest text of {path} has {longest:,} words. To train on it may "
            "take more memory than there is; split it into several."
        )
    if n_empty := train.n_words.count(0):
        yield f"Empty texts of {path}, which teach nothing: {n_empty:,}."
    if n_others := train.n_contradicting:
        yield f"Texts of {path} that occur again with a different label: {n_others:,}."
    if train.scores and dev.scores:
        low, high = min(train.scores), max(train.scores)
        width, of_dev = high - low, (min(dev.scores), max(dev.scores))
        if of_dev[0] < low - width or of_dev[1] > high + width:
            yield (
                f"Scores of {names['dev']} go from {of_dev[0]:g} to {of_dev[1]:g}, far "
                f"beyond {low:g} to {high:g}, which is trained on. Both set the range."
            )
    if train.labels and not dev.labels:
        yield f"{names['dev']} has no labels, so that it scores nothing."
    if rare := sorted(x for x, n in train.labels.items() if n <= _TOO_RARE):
        yield f"Labels that occur once or twice, too few to learn: {listed(rare)}."
    if unseen := sorted(dev.labels.keys() - train.labels.keys()):
        only = f"These labels occur only in {names['dev']} and cannot be learned"
        if len(unseen) == len(dev.labels):
            raise SpanftError(f"{only}: {listed(unseen)}. It has no others.")
        yield f"{only}: {listed(unseen)}."


def fitting_epochs(config: Config, n_texts: int) -> int:
    """Return the epochs of a config, or more: 3 of few texts are only a few steps.

    Mosbach, Andriushchenko and Klakow (2021, "On the Stability of Fine-tuning BERT")
    train 20 epochs on small data.
    """
    n_batches = ceil(n_texts / config["training"]["batcher"]["size"])
    epochs = min(_MOST_EPOCHS, ceil(_FEWEST_STEPS / n_batches))
    return max(epochs, config["training"].get("max_epochs") or _EPOCHS)


def _read(
    config: Config, task: str, train: str, dev: str | None
) -> tuple[dict[str, DataSummary], dict[str, str]]:
    """Return the contents of "train" and "dev", and their names; few texts are both."""
    names = {"train": train, "dev": dev or train}
    parts: dict[str, Iterable[Example]] = {x: read_data(config, x) for x in names}
    if dev is None:
        examples = list(parts["train"])
        some = examples[:MOST_TEXTS] if task == "textcat" else []
        n_labels = len({label for example in some for label in example.reference.cats})
        if len(examples) <= max(_FEW, min(_FEW_OF_A_LABEL * n_labels, MOST_TEXTS)):
            whole = config["corpora"]["train"]["corpus"]
            config["corpora"] |= {"train": dict(whole), "dev": dict(whole)}
            # Scores of texts that were trained on choose nothing: the last state wins.
            weights = config["training"]["score_weights"]
            weights |= {metric: 0.0 for metric, weight in weights.items() if weight}
            return dict.fromkeys(names, summarize(examples, task, train)), names
        names = {"train": f"{train} (training part)", "dev": f"{train} (held-out part)"}
        block = config["corpora"]["dev"]
        # As HeldOutCorpus does, but read once.
        is_dev = held_out(examples, block["share"], block["seed"])
        parts["train"] = compress(examples, map(not_, is_dev))
        parts["dev"] = compress(examples, is_dev)
    return {x: summarize(parts[x], task, name) for x, name in names.items()}, names


def _check_labels(data: DataSummary, task: str, path: str) -> list[str]:
    """Raise for training data that a task can learn nothing from; return doubts."""
    component = TASKS[task].component
    if not (data.scores if component == REGRESSOR else data.labels):
        raise SpanftError(
            f"{shown(path)} has no annotations for {task}. Name another --pipeline."
        )
    if component == REGRESSOR and len({*data.scores}) == 1:
        raise SpanftError(f"Every text of {shown(path)} has the same score.")
    if component == "textcat" and data.n_several:
        raise SpanftError(
            f"{shown(path)} has texts with several labels or none ({data.n_several:,}) "
            "and textcat needs exactly one. Use --pipeline textcat_multilabel."
        )
    is_table = component != REGRESSOR and data_format(path) == "table"
    return check_labels(data, path) if is_table else []


def _suits_contrast(config: Config, data: DataSummary) -> bool:
    """Whether there are few texts, several of each label in a batch, and one rate."""
    n_labels = sum(n > _TOO_RARE for n in data.labels.values())
    most = MOST_TEXTS if n_labels > 2 else HANDFUL
    suits = 1 < n_labels <= N_TEXTS and len(data.n_words) <= most
    return suits and "head_rate" not in config["training"]["optimizer"]


def _fit_contrast(config: Config, n_texts: int) -> str:
    """Let the encoder learn before spaCy's loop, which then hardly changes it."""
    contrast = n_texts if n_texts <= HANDFUL else _steps_of_few(n_texts)
    training = config["training"]
    config["initialize"]["after_init"]["contrast"] = contrast
    training["optimizer"]["learn_rate"]["initial_rate"] = _LOWEST_RATE
    training["batcher"]["size"] = N_TEXTS
    training |= {"max_epochs": 0, "max_steps": 1, "eval_frequency": 1}
    size = min(N_TEXTS, n_texts)
    note = f"{counted(n_texts, 'training text')}: {contrast} steps of {size} texts"
    return f"{note}, in which the encoder may learn by contrast, before the loop."


def _steps_of_few(n_texts: int) -> int:
    """Return 150, or less of a handful of texts, or as many as four epochs take."""
    at_most = max(_FEWEST_OF_FEW, _STEPS_A_TEXT * n_texts)
    return max(ceil(_EPOCHS_OF_FEW * n_texts / N_TEXTS), min(_STEPS_OF_FEW, at_most))


def _fit_few_steps(
    config: Config, n_texts: int, is_text: bool, *, has_dev: bool
) -> str:
    """Set a fixed number of small steps, the last of which is evaluated."""
    training = config["training"]
    steps, size = (_steps_of_few(n_texts), N_TEXTS) if is_text else _OF_FEW_SENTENCES
    frequency = steps // 3 if has_dev else steps
    training["batcher"]["size"] = size
    training |= {"max_epochs": 0, "max_steps": steps, "eval_frequency": frequency}
    return f"{counted(n_texts, 'training text')}: {steps} steps of {size} texts."


def _fit_steps(config: Config, n_texts: int) -> str:
    """Set how long a config trains, and when it evaluates."""
    training = config["training"]
    per_epoch = ceil(n_texts / training["batcher"]["size"])
    epochs = fitting_epochs(config, n_texts)
    frequency = ceil(per_epoch / ceil(per_epoch / MOST_STEPS))
    steps = epochs * ceil(per_epoch / frequency) * frequency
    training |= {"max_epochs": 0, "max_steps": steps, "eval_frequency": frequency}
    training["patience"] = steps // 2
    length = f"{counted(epochs, 'epoch')} ({steps:,} steps)"
    return f"{counted(n_texts, 'training text')}: the config trains for {length}."


def _fit_window(config: Config, task: str, data: DataSummary) -> str | None:
    """Let a classifier read long texts in longer windows."""
    model = config["components"]["transformer"]["model"]
    if TASKS[task].component not in CLASSIFIERS or "separator" in model:
        return None
    spans = model.get("get_spans")  # spanft_encoder has none: its windows are as long
    longest = _LONG["window"] if spans is None else spans["stride"]
    share = sum(n > longest for n in data.n_words) / len(data.n_words)
    if share <= _SHARE_LONG:
        return None
    if spans is not None:
        spans |= _LONG
        model["tokenizer_config"] |= {"model_max_length": _MAX_LENGTH}
        changed = f"the transformer reads {_LONG['window']} tokens at a time"
    else:
        config["training"]["accumulate_gradient"] = _ACCUMULATE
        changed = f"to save memory, accumulate_gradient is {_ACCUMULATE}"
    return f"{share:.0%} of the texts have more than {longest} words: {changed}."


def _fit_range(config: Config, task: str, scores: list[float]) -> str | None:
    """Set the range of a regressor to that of the scores, if its own does not suit."""
    if TASKS[task].component != REGRESSOR:
        return None
    block = config["components"][REGRESSOR]
    low, high = min(scores), max(scores)
    if not (block["low"] <= low and block["low"] + 1 < high <= block["high"]):
        block["low"] = float(floor(low))
        block["high"] = float(max(ceil(high), floor(low) + 1))
    scale = f"{block['low']:g} to {block['high']:g}"
    return f"Scores are predicted from {scale} (low and high in the config)."
