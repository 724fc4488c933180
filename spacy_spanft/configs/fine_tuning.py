"""Fine-tunes a pipeline from Python, as `spanft init` and `spacy train` do."""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import spacy
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as run_training
from spacy.util import load_model_from_config

from ..errors import SpanftError, shown, warn
from ..util.columns import SETTINGS
from ..util.files import check_folder, write_whole
from ..util.gpu import CPU, select_gpu
from .encoders import check_encoder
from .making import config_for_data, task_config
from .sources import SETTINGS_OF
from .templates import change

Row: TypeAlias = Mapping[str, Any] | tuple[str, Any]
Data: TypeAlias = str | Path | Iterable[Row]


def train(
    data: Data,
    *,
    dev: Data | None = None,
    transformer: str | Path | None = None,
    spans: bool = True,
    output: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    gpu_id: int = CPU,
    **settings: Any,
) -> Language:
    """Fine-tune an encoder on rows, and return the best pipeline.

    It is what `spanft init` and `spacy train` make of the same data: the same config,
    and the same weights.

    data (Union[str, Path, Iterable]): Rows, as dicts with columns or as pairs of a text
        and its label; or a file or dataset, as for `spanft init --train`.
    dev (Optional[Union[str, Path, Iterable]]): The data to evaluate on during training;
        None holds out a fifth of the others, or of few texts none.
    transformer (Optional[Union[str, Path]]): The name or folder of the encoder.
    spans (bool): Whether the head uses spans or windows; False makes the baseline.
    output (Optional[Union[str, Path]]): A folder for config.cfg, the rows, model-best
        and model-last, which replaces those of before; None keeps nothing.
    overrides (Optional[Mapping[str, Any]]): Settings: {"training.dropout": 0.2}.
    gpu_id (int): The GPU; -1 is the CPU.
    **settings: What else `task_config` takes, such as lang or dictionary, the task, and
        columns: text="review", label="stars".
    """
    select_gpu(gpu_id)
    if output is not None:
        check_folder(output)
    columns = _take_columns(settings)
    settings["columns"] = {**settings.get("columns", {}), **columns}
    if transformer is not None:
        check_encoder(str(transformer))
        settings["transformer"] = str(transformer)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary if output is None else output)
        files = {"data": folder / "rows/train.jsonl", "dev": folder / "rows/dev.jsonl"}
        settings |= {"spans": spans, "gpu": gpu_id != CPU}
        is_new = not folder.exists()
        try:
            train_file = _file_of(data, files["data"])
            dev_file = None if dev is None else _file_of(dev, files["dev"])
            made = config_for_data(train_file, dev_file, **settings)
            config = load_model_from_config(made.config, auto_fill=True).config
            for path, value in (overrides or {}).items():
                change(config, path, value, "overrides")
        except Exception as error:
            if is_new:
                rmtree(folder, ignore_errors=True)
            if isinstance(error, SpanftError):
                raise SpanftError(_by_argument(str(error), files)) from None
            raise
        for warning in made.warnings:
            warn(_by_argument(warning, files))
        text = config.to_str(interpolate=False)
        write_whole(folder / "config.cfg", text.encode())
        nlp = init_nlp(config, use_gpu=gpu_id)
        streams: Any = {"stdout": sys.stdout, "stderr": sys.stderr}
        run_training(nlp, folder, use_gpu=gpu_id, **streams)
        return spacy.load(folder / "model-best")


def _take_columns(settings: dict[str, Any]) -> dict[str, Any]:
    """Remove the settings of data from others, and return them."""
    of_data = (*SETTINGS, *SETTINGS_OF["table"])
    known = {"task", *signature(task_config).parameters, *of_data}
    if unknown := sorted(settings.keys() - known):
        raise TypeError(
            f"train() got an unexpected keyword argument {unknown[0]!r}. Settings of a "
            'config are overrides, such as {"training.max_steps": 100}.'
        )
    return {x: settings.pop(x) for x in of_data if x in settings}


def _by_argument(message: str, files: Mapping[str, Path]) -> str:
    """Return a message with arguments for the files of their rows, and for options."""
    for name, path in files.items():
        message = message.replace(shown(str(path)), name).replace(str(path), name)
    message = message.replace("--pipeline", "--task")
    options = r"(?<![\w-])--([a-z-]+)"
    return re.sub(options, lambda x: repr(x[1].replace("-", "_")), message)


def _file_of(data: Data, path: Path) -> str:
    """Return the path of data, which is written if it is rows."""
    if isinstance(data, str | Path):
        return str(data)
    lines = [json.dumps(_cells(row), default=_plain) for row in data]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())
    return str(path)


def _plain(value: Any) -> Any:
    """Return what JSON has for a value of NumPy or pandas or a set, or its text."""
    if isinstance(value, bytes):
        raise SpanftError(f"A row has bytes, {shown(value)}. Decode them to text.")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _cells(row: Any) -> dict[str, Any]:
    if isinstance(row, Mapping):
        return dict(row)
    if isinstance(row, tuple | list) and len(row) == 2:
        return {"text": row[0], "label": row[1]}
    raise SpanftError(
        f"A row is {shown(row)}, but must be a dict, or a text and its label. Of "
        'a DataFrame, pass frame.to_dict("records").'
    )
