"""The config that a run trains."""

from pathlib import Path
from typing import Any

from confection import Config

from spacy_spanft.configs import task_config
from spacy_spanft.configs.templates import change
from spacy_spanft.ml.encoder.hf_encoder import cpu_has_bf16

from .arms import ARMS, Arm
from .tasks import Task

_OPTIMIZER = "training.optimizer"
_SEGMENTER = "span_segmenter"


def precision() -> str:
    """Return the precision of the encoder on this CPU.

    bf16 takes three quarters of the time of single precision.
    """
    return "bf16" if cpu_has_bf16() else "single"


def config_for(
    task: Task, run: dict[str, Any], encoder: Path, files: dict[str, Path], steps: int
) -> Config:
    """Return the config of a run, with its train and dev data."""
    config = _config_of(task, ARMS[run["arm"]])
    settings: dict[str, Any] = {
        "paths.train": str(files["train"]),
        "paths.dev": str(files["dev"]),
        "paths.transformer": str(encoder),
        "system.seed": run["seed"],
        "components.transformer.model.precision": precision(),
        f"{_OPTIMIZER}.learn_rate.initial_rate": run["rate"],
        "training.max_epochs": 0,
        "training.max_steps": steps,
        "training.eval_frequency": steps,
        **_corpora(task),
        **task.set,
        **_regime(run),
    }
    if task.text:
        # Set for all arms: the defaults are not those of the paper's head.
        model = f"components.{task.component}.model"
        kind = run["arm"].partition("-")[0]
        separator = "${nlp.tokenizer.separator}" if kind == "pair" else None
        settings[f"{model}.summary"] = "mean" if kind == "mean" else "cls"
        settings[f"{model}.pair_separator"] = separator
    for path, value in settings.items():
        change(config, path, value, "a run")
    return config


def _config_of(task: Task, arm: Arm) -> Config:
    """Return the config of an arm, before the settings of the run."""
    config = task_config(
        task.pipeline,
        spans=arm.segmentation is not None,
        segmentation=arm.segmentation,
        regime="everything",
    )
    if arm.segmenter:
        config["components"][_SEGMENTER]["segmenter"] = dict(arm.segmenter)
        # Only the segmenter of n-grams takes a dictionary.
        config.get("initialize", {}).get("components", {}).pop(_SEGMENTER, None)
    if arm.segmentation is not None:
        model = config["components"][task.component]["model"]
        paper = {} if task.text else {"@architectures": "spacy-spanft.SpanTok2Vec.v1"}
        block = model if task.text else model["tok2vec"]
        block.update({**paper, **arm.block})
    return config


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
    """Set the rate of the head, and freeze the encoder for a tenth of the steps."""
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
