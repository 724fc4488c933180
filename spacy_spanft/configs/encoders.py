"""The encoder of a config: which one it is, and how components listen to it."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from confection import Config
from spacy import blank
from spacy.util import registry

from ..errors import SpanftError, reported, shown
from ..ml.encoder.safety import SAFE
from .templates import LISTENERS, base, interpolated

ENGLISH = "bert-base-uncased"  # the paper's
_SMALL = "sentence-transformers/all-MiniLM-L6-v2"
_SMALL_MULTILINGUAL = "intfloat/multilingual-e5-small"
_FACTORY = "spanft_encoder"
_ENCODER = "spacy-spanft.HuggingFaceEncoder.v1"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")

Block = dict[str, Any]


def default_encoder(lang: str, *, gpu: bool) -> str:
    """Return the encoder of a language: a small one, unless there is a GPU."""
    if not gpu:
        return _SMALL if lang == "en" else _SMALL_MULTILINGUAL
    if lang == "en":
        return ENGLISH
    from spacy.cli.init_config import RECOMMENDATIONS  # slow to import

    default = RECOMMENDATIONS["__default__"]["transformer"]
    models = RECOMMENDATIONS.get(lang, {}).get("transformer") or default
    return str(models["accuracy"]["name"])


def check_encoder(name: str) -> None:
    """Raise for a folder that is not an encoder; names on the hub are not looked up."""
    is_path = name.startswith((".", "~", "/")) or name.endswith("/")
    if (is_path or Path(name).exists()) and not Path(name, "config.json").is_file():
        raise SpanftError(
            f"The encoder {name!r} cannot be loaded: there is no config.json. Name a "
            "folder that save_pretrained wrote, of the model and its tokenizer, or a "
            "model of the Hugging Face hub."
        )


def describe_encoder(name: str) -> str:
    """Return an encoder's name, its number of parameters, and where it comes from.

    Nothing is downloaded; the hub is asked for the size of an encoder that is not here.
    """
    from huggingface_hub import model_info
    from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError

    source, size = "from the Hugging Face hub", 0
    try:
        if is_here(name):
            source = "a folder" if Path(name).is_dir() else "in the cache"
            size = _count_parameters(name)
        elif tensors := model_info(name, timeout=5).safetensors:
            size = tensors.total
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise SpanftError(
            f"The encoder {shown(name)} is neither a folder nor a model of the hub."
        ) from error
    except SpanftError:
        raise
    except Exception:  # no network, which has other errors in other versions of the hub
        size = 0
    millions = f"{size / 1e6:,.1f} million parameters, " if size else ""
    return f"{name} ({millions}{source})"


def is_here(name: str) -> bool:
    """Whether an encoder is a folder or in the cache, and need not be downloaded."""
    from huggingface_hub import try_to_load_from_cache

    cached = (try_to_load_from_cache(name, file) for file in _WEIGHTS)
    return Path(name).is_dir() or any(isinstance(path, str) for path in cached)


def _count_parameters(name: str) -> int:
    """Count the parameters of an encoder without reading its weights."""
    import torch
    from transformers import AutoConfig, AutoModel

    # transformers raises various errors.
    with reported(f"The encoder {name!r} cannot be loaded", Exception):
        config = AutoConfig.from_pretrained(name, local_files_only=True, **SAFE)
        with torch.device("meta"):
            module: Any = AutoModel.from_config(config, **SAFE)
    module = module.get_encoder() if config.is_encoder_decoder else module
    return sum(parameter.numel() for parameter in module.parameters())


def put_encoder(config: Config, name: str) -> list[str]:
    """Let all components that embed tokens listen to the built-in encoder.

    It replaces the transformer or tok2vec of the config, if there is one. Returns a
    sentence for each change.
    """
    plain = interpolated(config)
    blocks, known = config["components"], plain["components"]
    pipeline = list(plain["nlp"]["pipeline"])
    encoders = (*LISTENERS, "tok2vec")
    old = next((n for n in pipeline if known[n].get("factory") in encoders), None)
    if old is None:
        old = "transformer"
        pipeline = [old, *pipeline]
        blocks[old] = known[old] = {"factory": ""}
    is_transformer = known[old]["factory"] in LISTENERS
    new = old if is_transformer else "transformer"
    model: Block = {"@architectures": _ENCODER, "name": name}
    replaced = blocks[old].get("model", {})
    if "separator" in replaced:
        model["separator"] = replaced["separator"]
    training = config.setdefault("training", {})
    untouched = {old, *plain.get("training", {}).get("frozen_components", ())}
    for component in pipeline:
        if component not in untouched and "factory" in known[component]:
            _listen(blocks[component], known[component], new)
    others = {name: block for name, block in blocks.items() if name != old}
    block = {"factory": _FACTORY, "model": model}
    config["components"] = {new: block, **others}
    config.get("initialize", {}).get("components", {}).pop(old, None)
    config["nlp"]["pipeline"] = [new if n == old else n for n in pipeline]
    for key in ("annotating_components", "frozen_components"):
        if old in (names := training.get(key) or ()):
            training[key] = [new if n == old else n for n in names]
    instead = f" in the place of {old}" if old != new else ""
    changes = [f"{new}: the built-in encoder, {name}{instead}."]
    return changes if is_transformer else [*changes, *_train_as_encoder(config)]


def model_of(component: Block) -> Block:
    """Return a component's model block, or the default one of its factory."""
    if component.get("model"):
        model: Block = component["model"]
        return model
    nlp = blank("en")  # which registers spaCy's own factories
    factory = component.get("factory", "")
    if not nlp.has_factory(factory):
        return {}
    registry.get("factories", factory)  # imports those of other packages
    default: Any = nlp.get_factory_meta(factory).default_config
    return deepcopy(dict(default.get("model", {})))


def _listen(component: Block, known: Block, encoder: str) -> None:
    """Replace the innermost tok2vec of a component by a listener to the encoder."""
    inner = model_of(known)
    if "tok2vec" not in inner:
        return
    block = component["model"] = component.get("model") or inner
    while "tok2vec" in block["tok2vec"]:
        block = block["tok2vec"]
    before = block["tok2vec"]
    how = (before.get("grad_factor", 1.0), before.get("pooling"))
    block["tok2vec"] = listener(_FACTORY, encoder, *how)


def listener(
    factory: str, upstream: str, grad_factor: float = 1.0, pooling: Block | None = None
) -> Block:
    """Make a listener to an encoder; by default, it takes the mean of wordpieces."""
    return {
        "@architectures": LISTENERS[factory],
        "grad_factor": grad_factor,
        "upstream": upstream,
        "pooling": pooling or {"@layers": "reduce_mean.v1"},
    }


def _train_as_encoder(config: Config) -> list[str]:
    """Set what trained a tok2vec to what fine-tunes an encoder."""
    rate = deepcopy(base("textcat")["training"]["optimizer"]["learn_rate"])
    optimizer = config["training"].setdefault("optimizer", {"@optimizers": "Adam.v1"})
    optimizer["learn_rate"] = rate
    config.setdefault("system", {})["gpu_allocator"] = "pytorch"
    highest = f"{rate['initial_rate']:g}, after a warm-up and falling"
    changes = [f"[training.optimizer] learn_rate: {highest}."]
    paths, static = config.get("paths", {}), "include_static_vectors = true"
    if paths.get("vectors") and static not in config.to_str(interpolate=False):
        paths["vectors"] = None
        changes.append("[paths] vectors: null, as nothing reads them now.")
    return changes
