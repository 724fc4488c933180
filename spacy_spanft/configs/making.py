"""Makes configs: for the arms of an experiment, and for people, with a comment."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

from confection import Config
from spacy.util import load_model_from_config

from ..errors import ConfigError, Errors
from ..errors.visible import visible
from .adding import add_spans
from .bases import TASKS, base
from .data import set_data
from .regimes import REGIMES
from .writing import to_text

ENCODERS = {"en": "bert-base-uncased"}
ANY_ENCODER = "bert-base-multilingual-cased"
_WIDTH = 86


def task_config(
    task: str,
    *,
    spans: bool = True,
    regime: str = "everything",
    lang: str = "en",
    transformer: str | None = None,
    dictionary: str | Path | None = None,
    files: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Config:
    """Make the config of a task, without what spaCy fills in by itself.

    task (str): The name of one of TASKS.
    spans (bool): Whether phrases are looked at; without them it is the baseline.
    regime (str): The name of one of REGIMES.
    lang (str): The code of the language.
    transformer (Optional[str]): The name or folder of the encoder; None takes BERT's.
    dictionary (Optional[Union[str, Path]]): The file of the n-grams; None takes the
        default dictionary, which is English.
    files (Optional[Mapping[str, str]]): The files of "train" and "dev", if known.
    columns (Optional[Mapping[str, str]]): The columns of a table: of "text",
        "text_pair", "label" or "score".
    RETURNS (Config): The config, with its variables as they are.
    """
    if spans and dictionary is None and lang != "en":
        raise ConfigError(Errors.ENGLISH_DICTIONARY.format(lang=lang))
    config = base(task)
    config["nlp"]["lang"] = lang
    encoder = transformer or ENCODERS.get(lang, ANY_ENCODER)
    config["paths"]["transformer"] = encoder
    set_data(config, task, files or {}, columns or {})
    REGIMES[regime].change(config)
    if spans:
        config = add_spans(config, dictionary, [TASKS[task].component]).config
    return config


def make_config(
    task: str,
    *,
    spans: bool = True,
    regime: str = "everything",
    files: Mapping[str, str] | None = None,
    name: str = "config.cfg",
    **settings: Any,
) -> str:
    """Write the config of a task as `spacy init config` does: with every setting.

    task (str): The name of one of TASKS.
    spans (bool): Whether phrases are looked at; without them it is the baseline.
    regime (str): The name of one of REGIMES.
    files (Optional[Mapping[str, str]]): The files of "train" and "dev", if known.
    name (str): The name of the file that it will have.
    **settings: What else `task_config` takes.
    RETURNS (str): The config, with a comment that says how to train it.
    """
    files = files or {}
    config = task_config(task, spans=spans, regime=regime, files=files, **settings)
    filled = load_model_from_config(config, auto_fill=True).config
    how = "over phrases" if spans else "without phrases, the baseline"
    about = f"{TASKS[task].what}, {how}:"
    data = TASKS[task].data
    left = [part for part in ("train", "dev") if part not in files]
    paths = "".join(f"--paths.{part} {part}.{data} " for part in left)
    command = (
        f"  python -m spacy train {quote(visible(name))} --output training \\",
        f"    {paths}--gpu-id 0",
    )
    note = REGIMES[regime].note
    notes = " ".join(part for part in (note, TASKS[task].note) if part)
    lines = [about, "", *command, "", *wrap(notes, _WIDTH)]
    comment = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{comment}\n\n{to_text(filled)}"
