"""Tiny transformers, made on the spot: a vocabulary, a tokenizer, random weights."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
from tokenizers import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers.models import Unigram

from spacy_spanft import NgramDictionary
from spacy_spanft.util._compat import torch_module

WORDS = (
    *("the", "a", "in", "of", "is", "it", "new", "york", "city", "united", "states"),
    *("airlines", "holding", "not", "very", "good", "bad", "film", "this", "that"),
    *("was", "un", "##believ", "##able", "##s", "##ing", "##ed", "play", "walk"),
    *(".", ",", "!", "?", "-", "'"),
)
CASED = ("The", "New", "York", "United", "States")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
CAPITALS = tuple(letter.upper() for letter in LETTERS)
BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
ALBERT = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
# What a tokenizer puts around a text, and around a pair of texts.
CLS_SEP = "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
BOS_EOS = "<s>:0 $A:0 </s>:0", "<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0"
MPNET_NAMES = {"[PAD]": "<pad>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"}


class Family(NamedTuple):
    """A family of encoders: its tokenizer, and what both are made with."""

    tokenizer: str
    make: Callable[[Path], dict[str, Any]]  # from a folder to the tokenizer's arguments
    settings: dict[str, Any] = {}  # noqa: RUF012
    words: dict[str, Any] = {}  # noqa: RUF012
    model: str = ""  # what transformers calls it, if not as we do


def put_around(tokenizer, single, pair):
    """Let a tokenizer put special tokens around texts and pairs of them."""
    pieces = dict.fromkeys(re.findall(r"([^ ]\S+):\d", f"{single} {pair}"))
    special = [(x, tokenizer.token_to_id(x)) for x in pieces if x not in ("$A", "$B")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=special
    )


def word_pieces(*more, lowercase=True, names=(), around=None):
    """Make WordPiece tokenizers. They hold the letters, so that no word is unknown."""
    names = dict(names)

    def make(folder):
        letters = [*LETTERS, *(letter for letter in more if len(letter) == 1)]
        pieces = [*BERT, *WORDS, *more, *letters, *(f"##{x}" for x in letters)]
        pieces = dict.fromkeys(names.get(piece, piece) for piece in pieces)
        (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf8")
        ids = {piece: i for i, piece in enumerate(pieces)}
        special = {f"{x[1:-1].lower()}_token": names.get(x, x) for x in BERT}
        made = BertWordPieceTokenizer(ids, lowercase=lowercase, **special)._tokenizer
        if around:
            put_around(made, *around)
        return {"vocab_file": str(folder / "vocab.txt"), "tokenizer_object": made}

    return make


def byte_pairs(special, around=None):

    def make(folder):
        bpe = ByteLevelBPETokenizer(trim_offsets=True)
        texts = [" ".join(word for word in WORDS if "#" not in word)] * 3
        bpe.train_from_iterator(
            texts, vocab_size=600, special_tokens=list(special), show_progress=False
        )
        bpe.save_model(str(folder))
        if around:
            put_around(bpe._tokenizer, *around)
        elif special == ROBERTA:
            bpe._tokenizer.post_processor = processors.RobertaProcessing(
                ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
            )
        return {
            "vocab_file": str(folder / "vocab.json"),
            "merges_file": str(folder / "merges.txt"),
            "tokenizer_object": bpe._tokenizer,
        }

    return make


def unigrams(special, single, pair=None, file="spiece.model", normalizer=()):
    """Make tokenizers as SentencePiece's unigrams are converted to."""

    def make(folder):
        pieces = [f"▁{word}" for word in WORDS if "#" not in word]
        pieces += [word.removeprefix("##") for word in WORDS if "##" in word]
        letters = ["▁", *LETTERS, *CAPITALS, *".,!?-'"]
        scored = [(piece, 0.0) for piece in special]
        scored += [(piece, -2.0) for piece in dict.fromkeys(pieces)]
        scored += [(piece, -9.0) for piece in letters if piece not in pieces]
        unknown = next(i for i, piece in enumerate(special) if "unk" in piece.lower())
        made = Tokenizer(Unigram(scored, unk_id=unknown))
        spaces = normalizers.Replace(Regex(" {2,}"), " ")
        made.normalizer = normalizers.Sequence([*normalizer, spaces])
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
        put_around(made, single, pair)
        # spacy-transformers copies the file that it was converted from, unread.
        (folder / file).write_bytes(b"not read where there is a tokenizer.json")
        return {"tokenizer_object": made, "vocab_file": str(folder / file)}

    return make


FOLDING = (normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase())
albert_unigrams = unigrams(ALBERT, *CLS_SEP, normalizer=FOLDING)
bert_byte_pairs = byte_pairs(BERT, CLS_SEP)
xlmr_unigrams = unigrams(ROBERTA, *BOS_EOS, file="sentencepiece.bpe.model")
roberta_byte_pairs = byte_pairs(ROBERTA)
uncased_pieces = word_pieces()
cased_pieces = word_pieces(*CASED, *CAPITALS, lowercase=False)


NO_SIZES = dict.fromkeys(
    ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
)
NO_LENGTH = {"max_position_embeddings": None}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
RELATIVE |= {"position_biased_input": False, "type_vocab_size": 0}
RELATIVE_V2 = {**RELATIVE, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
ONE_TYPE = {"type_vocab_size": 1}
IN_CASE = {"do_lower_case": False}
NO_TYPES = {"model_input_names": ["input_ids", "attention_mask"]}
PAD, UNK = {"pad_token": "<pad>"}, {"unk_token": "<unk>"}
CLS = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
NAMED = {**CLS, "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
v2_unigrams = unigrams(
    *(("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"), *CLS_SEP),
    *("spm.model", (normalizers.Strip(),)),
)
xlnet_unigrams = unigrams(
    ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>"),
    *("$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2"),
)
llama_unigrams = unigrams(("<pad>", "<unk>", "<s>", "</s>"), "<s>:0 $A:0")
t5_unigrams = unigrams(
    ("<pad>", "</s>", "<unk>"), "$A:0 </s>:0", "$A:0 </s>:0 $B:0 </s>:0"
)
# XLNet and T5 have no longest text, and do not want to be told of one.
XLNET = {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 32, "dropout": 0.0}
XLNET |= {**NO_SIZES, **NO_LENGTH, "intermediate_size": 32}
T5 = {"d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32, "d_kv": 8}
T5 |= {**NO_SIZES, **NO_LENGTH}
DISTILBERT = {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, **NO_SIZES}
GPT2 = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64}
MODERN = {"global_attn_every_n_layers": 1, "local_attention": 8}
LONG = {"attention_window": 4, **ONE_TYPE}
mpnet_pieces = word_pieces(names=MPNET_NAMES, around=BOS_EOS)
gpt2_byte_pairs = byte_pairs(("<|endoftext|>", "<pad>"))

FAMILIES = {
    "bert": Family("Bert", uncased_pieces, {"num_hidden_layers": 2, **STILL}),
    # BERT with whole-word masking is the same in all but its training.
    "bert-cased": Family("Bert", cased_pieces, {}, IN_CASE, "bert"),
    "roberta": Family("Roberta", roberta_byte_pairs, ONE_TYPE),
    "spanbert": Family("Bert", cased_pieces, {}, {**IN_CASE, **NO_TYPES}, "bert"),
    "electra": Family("Electra", uncased_pieces, {"embedding_size": 8}),
    "albert": Family("Albert", albert_unigrams, {"embedding_size": 8, **STILL}),
    "deberta": Family("Deberta", bert_byte_pairs, RELATIVE),
    "deberta-v2": Family(
        "DebertaV2", v2_unigrams, {**RELATIVE_V2, "position_buckets": 8}
    ),
}
# Encoders whose [CLS] is at the end, or that have none.
OTHERS = {
    "xlnet": Family("XLNet", xlnet_unigrams, XLNET, {"padding_side": "left"}),
    "gpt2": Family("GPT2", gpt2_byte_pairs, GPT2, PAD),
    "llama": Family(
        *("PreTrained", llama_unigrams, {}),
        {**PAD, "bos_token": "<s>", "eos_token": "</s>"},
    ),
}
# Encoders that spacy-transformers is not asked for here.
MORE = {
    "distilbert": Family("Bert", uncased_pieces, DISTILBERT, NO_TYPES),
    "mpnet": Family("MPNet", mpnet_pieces),
    "xlm-roberta": Family("XLMRoberta", xlmr_unigrams, ONE_TYPE),
    "camembert": Family("Camembert", xlmr_unigrams, ONE_TYPE),
    "modernbert": Family("PreTrained", bert_byte_pairs, MODERN, NAMED),
    "longformer": Family("Roberta", roberta_byte_pairs, LONG),
    "big_bird": Family(
        *("PreTrained", albert_unigrams),
        *({"attention_type": "original_full"}, {**PAD, **UNK, **CLS}),
    ),
    "t5": Family("PreTrained", t5_unigrams, T5, {**PAD, **UNK, "eos_token": "</s>"}),
}


# What some families call one thing, others call another.
_SIZES = {
    8: "hidden_size dim d_model n_embd emb_dim intermediate_size hidden_dim d_inner "
    "encoder_ffn_dim decoder_ffn_dim intra_bottleneck_size",
    2: "num_attention_heads n_heads n_head encoder_attention_heads "
    "decoder_attention_heads",
    4: "embedding_size position_buckets",
}
_LAYERS = "num_hidden_layers n_layers n_layer encoder_layers decoder_layers"


def tiny_config(family, n_layers, vocab_size=30, **changes):
    """Configure a tiny encoder of any family of transformers."""
    from transformers import AutoConfig

    sizes = {name: n for n, names in _SIZES.items() for name in names.split()}
    sizes |= dict.fromkeys(_LAYERS.split(), n_layers)
    sizes |= dict.fromkeys(["vocab_size", "n_words"], vocab_size)
    sizes |= {"relative_attention": True, "norm_rel_ebd": "layer_norm"}
    return AutoConfig.for_model(family, **{**sizes, "pad_token_id": 0, **changes})


def save_encoder(folder, family="bert", width=16, max_length=24, n_positions=64):
    """Save a tiny encoder of a family, with its tokenizer."""
    import torch
    import transformers

    about = {**FAMILIES, **OTHERS, **MORE}[family]
    folder.mkdir(parents=True, exist_ok=True)
    made = about.make(folder)
    # transformers 5 takes a path for a vocabulary.
    if transformers.__version__ >= "5" or about.tokenizer == "PreTrained":
        made = {"tokenizer_object": made["tokenizer_object"]}
    kind = getattr(transformers, f"{about.tokenizer}TokenizerFast")
    tokenizer = kind(**made, **about.words, model_max_length=max_length)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 2 * width,
        "max_position_embeddings": n_positions,
        "pad_token_id": tokenizer.pad_token_id,
        **about.settings,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    config = transformers.AutoConfig.for_model(about.model or family, **settings)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def save_bert(folder, width=16, max_length=24):
    """Save a BERT of two layers with a WordPiece tokenizer."""
    return save_encoder(folder, "bert", width, max_length)


def transformer_config(folder, window=128, stride=96):
    pytest.importorskip("spacy_transformers")
    strided = {"@span_getters": "spacy-transformers.strided_spans.v1"}
    model = {"@architectures": "spacy-transformers.TransformerModel.v3"}
    model |= {"name": str(folder), "tokenizer_config": {"use_fast": True}}
    model["get_spans"] = {**strided, "window": window, "stride": stride}
    return {"factory": "transformer", "model": model}


def encoder_config(folder, **settings):
    architecture = {"@architectures": "spacy-spanft.HuggingFaceEncoder.v1"}
    model = {**architecture, "name": str(folder), **settings}
    return {"factory": "spanft_encoder", "model": model}


def make_pipeline(components, ngrams=(), separator=None):
    """Make a pipeline of components by name or "factory"; the segmenter has n-grams."""
    spacy.util.fix_random_seed(0)
    tokenizer = {"@tokenizers": "spacy-spanft.PairTokenizer.v1"}
    config = {"nlp": {"tokenizer": {**tokenizer, "separator": separator}}}
    nlp = spacy.blank("en", config=config if separator else {})
    for name, settings in components.items():
        settings = dict(settings)
        nlp.add_pipe(settings.pop("factory", name), name, config=settings)
    if ngrams:
        dictionary = NgramDictionary(dict.fromkeys(ngrams, 2))
        nlp.get_pipe("span_segmenter").initialize(dictionary=dictionary)
    return nlp


def train(nlp, examples, steps=1, annotates=("span_segmenter",), rate=0.003):
    """Let a pipeline learn, and return it."""
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = rate
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, annotates=annotates)
    return nlp


def weights_of(nlp):
    """Return all weights of a pipeline by their names: of its layers, and encoders."""
    weights = {}
    for pipe, component in nlp.pipeline:
        nodes = component.model.walk() if hasattr(component, "model") else ()
        for i, node in enumerate(nodes):
            for name in node.param_names:
                weight = node.ops.to_numpy(node.get_param(name)).copy()
                weights[f"{pipe} {i} {name}"] = weight
            for shim in node.shims:
                for name, weight in torch_module(shim).named_parameters():
                    weights[f"{pipe} {i} {name}"] = weight.detach().numpy().copy()
    return weights


LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    **{"upstream": "*", "grad_factor": 1.0, "pooling": {"@layers": "reduce_mean.v1"}},
}
OWN_LISTENER = {**LISTENER, "@architectures": "spacy-spanft.EncoderListener.v1"}
