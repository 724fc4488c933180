"""The config that a run trains, and the dictionary that its arm needs."""

import json
from pathlib import Path
from typing import Any

import torch
from confection import Config

from spacy_spanft import NgramDictionary, default_dictionary
from spacy_spanft.experiments.matrix.arms import Pipeline, change, config_of

from .arms import ARMS, CUT, MEAN, OF_MEAN
from .tasks import Data, Task

# What a dictionary needs to have in common with the default one to be as large.
TOP_BY_PMI = 20_000
MIN_COUNT = 3
_V1 = {"@architectures": "spacy-spanft.SpanTok2Vec.v1"}
_OPTIMIZER = "training.optimizer"
_RATE = f"{_OPTIMIZER}.learn_rate"


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
        settings[f"components.{task.component}.model.tok2vec.pooling"] = MEAN
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
