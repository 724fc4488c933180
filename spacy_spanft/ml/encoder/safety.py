"""Keeps encoders and tokenizers from running code that comes with them.

transformers runs Python files beside a model, and kernels from the hub, where its
settings or a saved config ask for it. Both may come from somebody else.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import SpanftError, shown

# Settings of transformers that decide which code runs, or what else is loaded.
_CODE = {
    *("trust_remote_code", "auto_map", "code_revision", "custom_pipelines"),
    *("use_kernels", "kernel_config", "allow_all_kernels"),
    *("adapter_kwargs", "quantization_config", "tokenizer_type", "config"),
    *("backbone", "backbone_kwargs", "model_args"),
    # Other names for settings, under which the check would not see them.
    "attribute_map",
}
# None would make transformers ask on the terminal whether to run code.
SAFE = {"trust_remote_code": False}
# Settings that locate an encoder. A saved one does without them.
WHERE = {
    *("revision", "subfolder", "cache_dir", "token"),
    *("local_files_only", "force_download", "proxies"),
}
_TOKENIZER_FILE = re.compile(r"[\w.-]+\.(json|txt|model)")


def check_settings(block: str, settings: Mapping[str, Any]) -> None:
    """Raise for a setting, nested or not, that decides which code transformers runs."""
    for name, value in _nested(settings):
        if str(name).startswith("_") or _decides_code(name, value):
            raise SpanftError(
                f"{block} has {name} = {shown(value)}, which decides what code runs or "
                "where it comes from. Remove it: only the code of the installed "
                "transformers runs. The one setting about this is trust_remote_code of "
                "the architecture itself, which must be false."
            )


def remove_code(config: Any) -> None:
    """Remove in place whatever decides which code transformers runs.

    config (Any): A PretrainedConfig, or what the JSON of one holds.
    """
    from transformers import PretrainedConfig

    if isinstance(config, list | tuple):
        for item in config:
            remove_code(item)
        return
    items = vars(config) if isinstance(config, PretrainedConfig) else config
    if not isinstance(items, dict):
        return
    for name, value in list(items.items()):
        if not _decides_code(name, value):
            remove_code(value)
        elif str(name).endswith("_internal"):
            items[name] = None  # a property of the config reads it
        else:
            del items[name]


def tokenizer_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that a tokenizer reads, without what would run code.

    Only plain names of JSON, text and sentencepiece files are kept.
    """
    kept = {name: files[name] for name in files if _TOKENIZER_FILE.fullmatch(name)}
    config = json.loads(kept.get("tokenizer_config.json", "{}"))
    remove_code(config)
    kept["tokenizer_config.json"] = json.dumps(config, ensure_ascii=False).encode()
    return kept


def load_tokenizer(name: str, config: Any, **settings: Any) -> Any:
    """Load a tokenizer of a class that transformers has itself.

    Whatever else it has of the name that a file gives would be loaded in its place.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast
    from transformers.models.auto import tokenization_auto as auto

    where = {key: settings[key] for key in WHERE & set(settings)}
    saved = auto.get_tokenizer_config(name, **where)
    class_name = saved.get("tokenizer_class") or config.tokenizer_class
    if class_name is None:
        default = auto.TOKENIZER_MAPPING.get(type(config), ())
        classes = default if isinstance(default, tuple) else (default,)
    else:
        names = (f"{class_name}Fast", class_name)
        classes = tuple(auto.tokenizer_class_from_name(each) for each in names)
    kinds = [kind for kind in classes if isinstance(kind, type)]
    is_fast = any(issubclass(kind, PreTrainedTokenizerFast) for kind in kinds)
    if classes and not is_fast:
        class_name = class_name or type(config).__name__
        raise SpanftError(
            f"The tokenizer is of the class {shown(class_name)}, for which the "
            "installed transformers has no fast tokenizer. Use another encoder."
        )
    return AutoTokenizer.from_pretrained(name, config=config, **SAFE, **settings)


def load_model(model_class: Any, name: str, **settings: Any) -> Any:
    """Load a model of a class of transformers, from the hub or a folder.

    Classes that generate text run what a folder has in custom_generate as soon as they
    are loaded, and ask nobody.
    """
    folder = Path(name, settings.get("subfolder", ""))
    if any((at / "custom_generate").exists() for at in (folder, Path(name))):
        raise SpanftError(
            f"The encoder {shown(name)} has a folder custom_generate, whose code "
            "transformers would run. Remove it: an encoder does without."
        )
    return model_class.from_pretrained(name, **SAFE, **settings)


def _decides_code(key: Any, value: Any) -> bool:
    name = str(key).lstrip("_")
    # A path of this machine, whose content would be saved with the tokenizer.
    is_file = name.endswith("_file")
    # A repository of kernels on the hub: "kernels-community/flash-attn:function".
    values = value.values() if isinstance(value, Mapping) else [value]
    is_elsewhere = any({"/", ":"} & {*str(each)} for each in values)
    is_from_hub = "_implementation" in name and is_elsewhere
    return name in _CODE or is_file or is_from_hub


def _nested(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        yield name, value
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, Mapping):
                yield from _nested(item)
