"""Makes configs: for the arms of an experiment, and for people, with a comment."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from textwrap import indent, wrap
from typing import Any

from confection import Config
from spacy.util import load_model_from_config

from ..errors import SpanftError, check_setting, listed, shown, visible
from ..util import SEGMENTER, require
from ..util.columns import guess_of
from ..util.pipelines import blank
from .adding import add_spans
from .encoders import default_encoder, put_encoder
from .fitting import Made, fit_to_data
from .sources import HELD_OUT, data_format, guess_columns, guess_task, set_sources
from .templates import CLASSIFIERS, REGIMES, TASKS, base


def config_for_data(
    train: str | None,
    dev: str | None = None,
    *,
    task: str | None = None,
    lang: str = "en",
    columns: Mapping[str, str] | None = None,
    **settings: Any,
) -> Made:
    """Guess the task of data, make its config, and fit it to them.

    train (Optional[str]): The training data; None makes a config without data.
    dev (Optional[str]): The dev data; None holds out a part of the training data.
    **settings: The other settings of `task_config`.
    """
    blank(lang)  # before data are read for minutes
    if task not in (None, *TASKS):
        raise SpanftError(f"The task is {shown(task)}, not one of {listed(TASKS)}.")
    columns, typed = columns or {}, columns or {}
    if "" in (train, dev):
        raise SpanftError("--train or --dev is empty. Name a file, or leave it out.")
    if train is None:
        if dev is not None:
            raise SpanftError("--dev is given without --train: add the training data.")
        task = task or "textcat"
        config = task_config(task, lang=lang, columns=columns, **settings)
        return Made(config, task, {}, [], _lost_spans(config, task, settings), [])
    columns = guess_columns(train, columns, task)
    detected = [note] if (note := guess_of(columns, typed)) else []
    if task is None:
        task = guess_task(train, columns, lang)
        detected += [f"Detected from the data: --pipeline {task}"]
    files = {"train": train} if dev is None else {"train": train, "dev": dev}
    config = task_config(task, lang=lang, files=files, columns=columns, **settings)
    if dev is not None and data_format(dev) == "table":
        of_dev = guess_columns(dev, typed, task, columns)
        config["corpora"]["dev"] |= of_dev
        if note := guess_of(of_dev, columns):
            detected.append(f"{dev}: {note}")
    contrast = settings.get("regime") is None
    made = fit_to_data(config, task, train, dev, contrast=contrast)
    warnings = [*_lost_spans(config, task, settings), *made.warnings]
    return made._replace(notes=[*detected, *made.notes], warnings=warnings)


def task_config(
    task: str,
    *,
    spans: bool = True,
    segmentation: str | None = None,
    regime: str | None = None,
    lang: str = "en",
    encoder: str = "spanft",
    transformer: str | None = None,
    dictionary: str | Path | None = None,
    files: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    gpu: bool = False,
) -> Config:
    """Make the config of a task, without spaCy's defaults.

    spans (bool): Whether the head uses spans or windows; False makes the baseline.
    segmentation (Optional[str]): "spans" for those of a segmenter, or "none" for
        windows alone; None takes spans for texts, and windows for tokens. Without a
        dictionary of the language, it makes the baseline for texts.
    regime (Optional[str]): The name of one of REGIMES; None for that of the task (with
        data, a text classifier may learn by contrast first).
    transformer (Optional[str]): The name or folder of the encoder; None takes that of
        `default_encoder`, for a CPU or a gpu.
    dictionary (Optional[Union[str, Path]]): The file of the n-grams; None takes the
        default dictionary, which is English.
    files, columns: As for `set_sources`.
    """
    is_regime = regime in (None, *REGIMES)
    check_setting("regime", regime, is_regime, f"one of {listed(REGIMES)}")
    config = base(task)
    config["nlp"]["lang"] = lang
    config["paths"]["transformer"] = transformer or default_encoder(lang, gpu=gpu)
    set_sources(config, task, files or {}, columns or {})
    if encoder == "spanft":
        put_encoder(config, "${paths.transformer}")
    else:
        require("--encoder spacy-transformers", "spacy-transformers")
        if "separator" in config["components"]["transformer"]["model"]:
            raise SpanftError("--encoder spacy-transformers cannot encode pairs.")
    REGIMES[regime or TASKS[task].regime](config)
    if spans and not _lacks_dictionary(task, lang, dictionary, segmentation):
        component = TASKS[task].component
        config = add_spans(config, dictionary, [component], segmentation).config
    if SEGMENTER in config["components"] and dictionary is None and lang != "en":
        raise SpanftError(
            f"The default dictionary is English, and the language is {lang!r}. Name "
            "one with --dictionary, or add --segmentation none."
        )
    return config


def _lacks_dictionary(
    task: str, lang: str, dictionary: str | Path | None, segmentation: str | None
) -> bool:
    """Whether spans are left out, as the default dictionary is of another language."""
    is_of_texts = TASKS[task].component in CLASSIFIERS
    return is_of_texts and lang != "en" and dictionary is None and segmentation is None


def _lost_spans(config: Config, task: str, settings: Mapping[str, Any]) -> list[str]:
    """Return that the spans of a language without a dictionary are left out."""
    lang, segmentation = config["nlp"]["lang"], settings.get("segmentation")
    lacks = _lacks_dictionary(task, lang, settings.get("dictionary"), segmentation)
    if not lacks or not settings.get("spans", True):
        return []
    return [
        f"Spans are left out: there is no dictionary of the language {lang!r}. Build "
        "one (python -m spacy spanft dictionary build), and add --dictionary."
    ]


def config_text(config: Config, task: str, name: str = "config.cfg") -> str:
    """Write a config with spaCy's defaults, and a comment on training it."""
    notes = [TASKS[task].note, "For a GPU, add --gpu-id 0 to the command."]
    if config["corpora"]["train"]["@readers"] == HELD_OUT:
        notes.insert(1, "A fifth of the training data is held out as dev data.")
    command = indent(train_command(config, task, name), "  ")
    lines = [f"{TASKS[task].title}:", "", *command.split("\n"), ""]
    lines += wrap(" ".join(filter(None, notes)), 86)
    comment = "\n".join(f"# {line}".rstrip() for line in lines)
    filled = load_model_from_config(config, auto_fill=True).config
    return f"{comment}\n\n{filled.to_str(interpolate=False)}\n"


def train_command(config: Config, task: str, name: str) -> str:
    """Return the command that trains a config, on several lines."""
    output = f"training/{Path(name).stem}"
    command = f"python -m spacy train {quote(visible(name))} \\\n"
    command += f"  --output {quote(visible(output))}"
    if not config["paths"]["train"]:
        ending = "tsv" if "pairs" in TASKS[task].templates else "spacy"
        command += f" \\\n  --paths.train train.{ending} --paths.dev dev.{ending}"
    return command
