"""Encoders of others: none of their code runs, and nothing is asked."""

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.util import registry
from thinc.api import ConfigValidationError

from spacy_spanft.errors import SpanftError
from spacy_spanft.ml.encoder import loading
from spacy_spanft.ml.encoder.hf_encoder import huggingface_encoder
from spacy_spanft.pretraining import starting_model

from ..tiny import encoder_config, make_pipeline

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

# Whoever imports this file leaves a file beside "ran" of the folder of the test.
EVIL = """
from pathlib import Path
Path({marker!r}).touch()
from transformers import BertConfig, BertModel, BertTokenizerFast
class EvilConfig(BertConfig): pass
class EvilModel(BertModel): config_class = EvilConfig
class EvilTokenizer(BertTokenizerFast): pass
"""
MAP = {
    "AutoConfig": "evil.EvilConfig",
    "AutoModel": "evil.EvilModel",
    "AutoModelForMaskedLM": "evil.EvilModel",
    "AutoBackbone": "evil.EvilModel",
    "AutoTokenizer": ["evil.EvilTokenizer", "evil.EvilTokenizer"],
}


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """A file that must not be there in the end; nothing may ask on the terminal."""
    monkeypatch.setattr("builtins.input", lambda *args: pytest.fail(f"asked: {args}"))
    # transformers imports foreign code from here.
    modules = "transformers.dynamic_module_utils.HF_MODULES_CACHE"
    monkeypatch.setattr(modules, str(tmp_path / "modules"))
    marker = tmp_path / "ran"
    yield marker
    assert not marker.exists()


@pytest.fixture
def evil(bert, tmp_path, marker):
    folder = shutil.copytree(bert, tmp_path / "evil")
    (folder / "evil.py").write_text(EVIL.format(marker=str(marker)))
    return folder


def change(path, **settings):
    content = json.loads(path.read_text("utf8"))
    path.write_text(json.dumps({**content, **settings}), "utf8")


def loaded(folder):
    return loading.load_encoder(loading.EncoderSettings(str(folder)))


def restored(data):
    return loading.encoder_from_bytes(data, loading.EncoderSettings("-"))


def saved(folder, tokenizer, config):
    """Turn an encoder into bytes, and plant code and what asks for it among them."""
    message = srsly.msgpack_loads(loading.encoder_to_bytes(loaded(folder)))
    message["tokenizer"]["evil.py"] = (folder / "evil.py").read_bytes()
    config = config(folder) if callable(config) else config
    files, name = message["tokenizer"], "tokenizer_config.json"
    files[name] = json.dumps({**json.loads(files[name]), **tokenizer}).encode()
    message["config"] = json.dumps({**json.loads(message["config"]), **config})
    return srsly.msgpack_dumps(message)


def with_backbone(folder):
    """Let an image model ask for its backbone, which comes with code."""
    change(folder / "config.json", auto_map=MAP)
    return {
        "model_type": "oneformer",
        "use_timm_backbone": False,
        "use_pretrained_backbone": True,
        "backbone": str(folder),
        "backbone_kwargs": {"trust_remote_code": True},
    }


KERNEL = "somebody/kernel:function"


@pytest.mark.parametrize(
    ("tokenizer", "config"),
    [
        ({"auto_map": MAP}, {}),
        ({}, {"auto_map": MAP}),
        ({}, {"text_config": {"parts": [{"auto_map": MAP}]}}),
        ({}, {"trust_remote_code": True, "auto_map": MAP}),
        ({}, {"_attn_implementation": KERNEL}),
        ({}, {"_attn_implementation_internal": {"text_config": KERNEL}}),
    ],
)
def test_a_saved_encoder_loads_without_what_runs_code(evil, tokenizer, config):
    encoder = restored(saved(evil, tokenizer, config))
    message = srsly.msgpack_loads(loading.encoder_to_bytes(encoder))
    rest = str(message["tokenizer"]) + message["config"]
    assert not re.search(rf"auto_map|trust_remote_code|evil|{KERNEL}", rest)


@pytest.mark.parametrize(
    ("tokenizer", "config", "error"),
    [
        ({"auto_map": MAP["AutoTokenizer"], "tokenizer_class": "E"}, {}, "class 'E'"),
        ({"tokenizer_class": "AutoModel"}, {"auto_map": MAP}, "class 'AutoModel'"),
        ({"tokenizer_class": "RagTokenizer"}, {}, "class 'RagTokenizer'"),
        ({"tokenizer_class": None}, {"tokenizer_class": "AutoConfig"}, "'AutoConfig'"),
        ({}, {"auto_map": MAP, "model_type": "evil"}, "model type `evil`"),
        ({}, with_backbone, "config.backbone must be set|not those of such an encoder"),
    ],
)
def test_a_saved_encoder_that_needs_code_is_refused(evil, tokenizer, config, error):
    with pytest.raises(ValueError, match=error):
        restored(saved(evil, tokenizer, config))


def test_only_files_of_a_tokenizer_are_written(evil, tmp_path, monkeypatch):
    message = srsly.msgpack_loads(loading.encoder_to_bytes(loaded(evil)))
    names = ["../up.json", "/tmp/root.json", "a/b.txt", "c\\d.txt", "x.py", "y.so"]
    message["tokenizer"] |= dict.fromkeys(names, b"{}")
    written, write = [], Path.write_bytes

    def noted(path, data):
        written.append(path)
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", noted)
    restored(srsly.msgpack_dumps(message))
    assert {path.suffix for path in written} <= {".json", ".txt", ".model"}
    assert len({path.parent for path in written}) == 1
    assert not {path.name for path in written} & {"up.json", "root.json", "b.txt"}


REFUSED_SETTINGS = [
    *(("trust_remote_code", value) for value in (True, False)),
    ("auto_map", MAP),
    ("code_revision", "main"),
    ("backbone_kwargs", {}),
    ("_configuration_file", "x.json"),
    ("tokenizer_type", "rag"),
    *(("attn_implementation", value) for value in (KERNEL, {"": KERNEL})),
    ("experts_implementation", "somebody/kernel"),
]


@pytest.mark.parametrize("block", ["tokenizer_config", "transformer_config"])
def test_settings_that_decide_what_runs_are_refused(block):
    for name, value in REFUSED_SETTINGS:
        setting = {name: value}
        message = f"{block} has {name} = .*only the code of the installed transformers"
        for settings in (setting, {"text": setting}, {"of": [setting]}):
            with pytest.raises(SpanftError, match=message):
                huggingface_encoder("-", **{block: settings})
    model = encoder_config("-", trust_remote_code=True)["model"]
    with pytest.raises(ConfigValidationError, match="trust_remote_code"):
        registry.resolve({"model": model})


def test_a_pipeline_of_somebody_else(evil, tmp_path):
    """Its config.cfg asks for the code that stands among the tokenizer's files."""
    folder = tmp_path / "nlp"
    nlp = make_pipeline({"transformer": encoder_config(evil)})
    nlp.initialize()
    nlp.to_disk(folder)
    path = folder / "transformer" / "model"
    message = srsly.read_msgpack(path)
    data = saved(evil, TOKENIZER, {"auto_map": MAP})
    message["shims"] = [[shim and data for shim in s] for s in message["shims"]]
    srsly.write_msgpack(path, message)
    with pytest.raises(SpanftError, match="class 'EvilTokenizer'"):
        spacy.load(folder)
    config = (folder / "config.cfg").read_text("utf8")
    for name in ("tokenizer_config", "transformer_config"):
        block = f"[components.transformer.model.{name}]"
        asks = config.replace(block, f"{block}\ntrust_remote_code = true")
        (folder / "config.cfg").write_text(asks, "utf8")
        with pytest.raises(SpanftError, match=f"{name} has trust_remote_code = True"):
            spacy.load(folder)


def pickled(folder):
    class Evil:
        def __reduce__(self):
            return Path.touch, (folder.parent / "ran",)

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"x": Evil()}))


def changing(**settings):
    def damage(folder):
        for name, values in settings.items():
            change(folder / f"{name}.json", **values)

    return damage


NESTED = {"auto_map": {"AutoModelForMaskedLM": "evil.EvilModel"}}
TOKENIZER = {"auto_map": MAP, "tokenizer_class": "EvilTokenizer"}
QUANTIZED = {"quantization_config": {"quant_method": "gptq", "bits": 4}}
WAYS = {
    "comes with Python code of its own": changing(
        config={"auto_map": MAP, "model_type": "evil"}
    ),
    "class 'EvilTokenizer'": changing(tokenizer_config=TOKENIZER),
    "class 'AutoModelForMaskedLM'": changing(
        tokenizer_config={"tokenizer_class": "AutoModelForMaskedLM"}, config=NESTED
    ),
    "cannot be loaded": pickled,
    "has a folder custom_generate": lambda folder: (folder / "custom_generate").mkdir(),
}
REFUSED = {
    **WAYS,
    "is an adapter": lambda folder: (folder / "adapter_config.json").write_text("{}"),
    "is quantized": changing(config=QUANTIZED),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_an_encoder_of_a_folder_that_needs_code_is_refused(evil, reason):
    REFUSED[reason](evil)
    with pytest.raises(SpanftError, match=reason):
        loaded(evil)


def pretrain(folder):
    config, _ = starting_model.load_parts(str(folder))
    starting_model.make_model(str(folder), config, True, False)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("way", WAYS)
def test_pretraining_runs_no_code(evil, way):
    WAYS[way](evil)
    with pytest.raises(SpanftError):
        pretrain(evil)


@pytest.mark.parametrize(
    "config",
    [
        {"_attn_implementation_internal": KERNEL},
        {"attribute_map": {"_attn_implementation_internal": "other"}, "other": KERNEL},
    ],
)
def test_no_kernel_of_the_hub_comes_along(evil, config):
    config["auto_map"] = MAP
    encoders = [restored(saved(evil, {}, config))]
    change(evil / "config.json", **config)
    encoders.append(loaded(evil))
    for encoder in encoders:
        assert encoder.module.config._attn_implementation in ("sdpa", "eager")
        assert not hasattr(encoder.config, "auto_map")


def test_no_file_of_this_machine_is_saved_with_a_tokenizer(evil, tmp_path):
    (tmp_path / "secret").write_text("secret")
    files = {"vocab_file": str(tmp_path / "secret"), "tokenizer_file": "secret"}
    encoder = restored(saved(evil, files, {}))
    assert b"secret" not in loading.encoder_to_bytes(encoder)
    with pytest.raises(SpanftError, match="tokenizer_config has vocab_file"):
        huggingface_encoder(str(evil), tokenizer_config=files)
