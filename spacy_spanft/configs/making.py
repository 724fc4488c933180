"""Makes configs: for the arms of an experiment, and for people, with a comment."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

from confection import Config
from spacy.util import load_model_from_config

from ..errors import Errors, SpanftError
from ..errors.visible import visible
from ..util.names import SEGMENTER
from .adding import add_spans, span_block
from .bases import TASKS, base
from .encoders import ENCODERS
from .regimes import REGIMES, Regime
from .sources import set_sources
from .writing import to_text

# The paper's; for other languages spaCy recommends one.
_ENGLISH_ENCODER = "bert-base-uncased"
_WIDTH = 86


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
) -> Config:
    """Make the config of a task, without what spaCy fills in by itself.

    task (str): The name of one of TASKS.
    spans (bool): Whether there is a head that looks at phrases; without it, it is the
        baseline.
    segmentation (Optional[str]): What a head looks at: "spans" for those of a
        segmenter, or "none" for windows alone; None takes spans for texts, and windows
        for tokens.
    regime (Optional[str]): The name of one of REGIMES; None for that of the task.
    lang (str): The code of the language.
    encoder (str): The name of one of ENCODERS.
    transformer (Optional[str]): The name or folder of the encoder; None takes BERT's,
        and for other languages than English the one that `spacy init config` takes.
    dictionary (Optional[Union[str, Path]]): The file of the n-grams; None takes the
        default dictionary, which is English.
    files (Optional[Mapping[str, str]]): The files of "train" and "dev", if known.
    columns (Optional[Mapping[str, str]]): The columns of a table: of "text",
        "text_pair", "label" or "score".
    RETURNS (Config): The config, with its variables as they are.
    """
    config = base(task)
    component = TASKS[task].component
    config["nlp"]["lang"] = lang
    config["paths"]["transformer"] = transformer or _encoder_of(lang)
    set_sources(config, task, files or {}, columns or {})
    ENCODERS[encoder](config)
    _regime(task, regime).change(config)
    if spans:
        config = add_spans(config, dictionary, [component], segmentation).config
    has_segmenter = SEGMENTER in config["components"]
    if has_segmenter and dictionary is None and lang != "en":
        raise SpanftError(Errors.ENGLISH_DICTIONARY.format(lang=lang))
    return config


def _regime(task: str, name: str | None) -> Regime:
    """Find a regime, or that of the task if nobody names one."""
    return REGIMES[name or TASKS[task].regime]


def _encoder_of(lang: str) -> str:
    """Choose the encoder that a language gets if nobody names one."""
    if lang == "en":
        return _ENGLISH_ENCODER
    from spacy.cli.init_config import RECOMMENDATIONS  # slow to import

    own, of_any = (RECOMMENDATIONS.get(key, {}) for key in (lang, "__default__"))
    found = own.get("transformer") or of_any["transformer"]
    return str(found["accuracy"]["name"])


def make_config(
    task: str,
    *,
    regime: str | None = None,
    files: Mapping[str, str] | None = None,
    name: str = "config.cfg",
    **settings: Any,
) -> str:
    """Make the config of a task, and write it.

    task (str): The name of one of TASKS.
    regime (Optional[str]): The name of one of REGIMES; None for that of the task.
    files (Optional[Mapping[str, str]]): The files of "train" and "dev", if known.
    name (str): The name of the file that it will have.
    **settings: What else `task_config` takes.
    RETURNS (str): The config, with a comment that says how to train it.
    """
    config = task_config(task, regime=regime, files=files, **settings)
    return written(config, task, regime=regime, name=name)


def written(config: Config, task: str, *, regime: str | None, name: str) -> str:
    """Write a config as `spacy init config` does: with every setting.

    config (Config): A config that `task_config` made.
    task (str): The name of one of TASKS.
    regime (Optional[str]): The name of one of REGIMES; None for that of the task.
    name (str): The name of the file that it will have.
    RETURNS (str): The config, with a comment that says how to train it.
    """
    filled = load_model_from_config(config, auto_fill=True).config
    how = _how(config["components"][TASKS[task].component])
    ending = TASKS[task].data
    is_held_out = config["paths"]["train"] and not config["paths"]["dev"]
    left = [part for part in ("train", "dev") if not config["paths"][part]]
    paths = " ".join(
        f"--paths.{part} {part}.{ending}" for part in left if not is_held_out
    )
    command = (
        f"  python -m spacy train {quote(visible(name))}",
        f"    --output {quote(visible(f'training/{Path(name).stem}'))}",
        *([f"    {paths}"] if paths else []),
    )
    training = config["training"]
    notes = (
        _regime(task, regime).note.format(
            rate=training["optimizer"]["learn_rate"]["initial_rate"],
            epochs=training["max_epochs"],
        ),
        TASKS[task].note,
        "A fifth of the training data is held out as dev data." if is_held_out else "",
        "For a GPU, add --gpu-id 0 to the command.",
    )
    text = wrap(" ".join(filter(None, notes)), _WIDTH)
    joined = " \\\n".join(command).split("\n")
    lines = [f"{TASKS[task].what}, {how}:", "", *joined, "", *text]
    comment = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{comment}\n\n{to_text(filled)}"


def _how(component: dict[str, Any]) -> str:
    """Say what a component looks at, for whoever reads the config."""
    block = span_block(component)
    if block is None:
        return "without phrases, the baseline"
    is_bare = block.get("segmentation") == "none"
    return "over a CNN without spans" if is_bare else "over phrases"
