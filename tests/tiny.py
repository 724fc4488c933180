"""Tiny transformers, made on the spot: a vocabulary, a tokenizer, random weights."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tokenizers import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    Regex,
    Tokenizer,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers.models import Unigram

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
    """A family of encoders.

    model (str): What transformers calls its architecture.
    tokenizer (str): The class of its tokenizer.
    make (Callable): From a folder to the arguments of this class.
    settings (dict[str, Any]): Of its architecture, where they matter.
    words (dict[str, Any]): Of its tokenizer.
    """

    model: str
    tokenizer: str
    make: Callable[[Path], dict[str, Any]]
    settings: dict[str, Any] = {}  # noqa: RUF012
    words: dict[str, Any] = {}  # noqa: RUF012


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
    """Train byte-level BPEs on a few words."""

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


def named(*names):
    """Return the special tokens of BERT by these names."""
    return {f"{name}_token": f"[{name.upper()}]" for name in names}


NO_SIZES = dict.fromkeys(
    ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
)
NO_LENGTH = {"max_position_embeddings": None}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
NO_TYPES = ["input_ids", "attention_mask"]
FAMILIES = {
    "bert": Family(
        "bert", "BertTokenizerFast", uncased_pieces, {"num_hidden_layers": 2, **STILL}
    ),
    # BERT with whole-word masking is the same in all but its training.
    "bert-cased": Family(
        "bert", "BertTokenizerFast", cased_pieces, words={"do_lower_case": False}
    ),
    "roberta": Family(
        "roberta", "RobertaTokenizerFast", roberta_byte_pairs, {"type_vocab_size": 1}
    ),
    "spanbert": Family(
        *("bert", "BertTokenizerFast", cased_pieces),
        words={"do_lower_case": False, "model_input_names": NO_TYPES},
    ),
    "electra": Family(
        "electra", "ElectraTokenizerFast", uncased_pieces, {"embedding_size": 8}
    ),
    "albert": Family(
        "albert", "AlbertTokenizerFast", albert_unigrams, {"embedding_size": 8, **STILL}
    ),
    "deberta": Family("deberta", "DebertaTokenizerFast", bert_byte_pairs, RELATIVE),
    "deberta-v2": Family(
        "deberta-v2",
        "DebertaV2TokenizerFast",
        unigrams(
            *(("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"), *CLS_SEP),
            file="spm.model",
            normalizer=(normalizers.Strip(),),
        ),
        {
            **RELATIVE,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "position_buckets": 8,
        },
    ),
}

# Encoders whose [CLS] is at the end, or that have none.
OTHERS = {
    "xlnet": Family(
        "xlnet",
        "XLNetTokenizerFast",
        unigrams(
            ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>"), "$A:0 <sep>:0 <cls>:2"
        ),
        # It has no longest text, and does not want to be told of one.
        {
            **{"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 32, "dropout": 0.0},
            **NO_SIZES,
            **NO_LENGTH,
            "intermediate_size": 32,
        },
        {"padding_side": "left"},
    ),
    "gpt2": Family(
        "gpt2",
        "GPT2TokenizerFast",
        byte_pairs(("<|endoftext|>", "<pad>")),
        {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64},
        {"pad_token": "<pad>"},
    ),
    "llama": Family(
        "llama",
        "PreTrainedTokenizerFast",
        unigrams(("<pad>", "<unk>", "<s>", "</s>"), "<s>:0 $A:0"),
        words={"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"},
    ),
}

# Encoders that spacy-transformers is not asked for here.
MORE = {
    "distilbert": Family(
        "distilbert",
        "BertTokenizerFast",
        uncased_pieces,
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, **NO_SIZES},
        {"model_input_names": NO_TYPES},
    ),
    "mpnet": Family(
        "mpnet", "MPNetTokenizerFast", word_pieces(names=MPNET_NAMES, around=BOS_EOS)
    ),
    "xlm-roberta": Family(
        "xlm-roberta", "XLMRobertaTokenizerFast", xlmr_unigrams, {"type_vocab_size": 1}
    ),
    "camembert": Family(
        "camembert", "CamembertTokenizerFast", xlmr_unigrams, {"type_vocab_size": 1}
    ),
    "modernbert": Family(
        "modernbert",
        "PreTrainedTokenizerFast",
        bert_byte_pairs,
        {"global_attn_every_n_layers": 1, "local_attention": 8},
        named("pad", "unk", "cls", "sep", "mask"),
    ),
    "longformer": Family(
        "longformer",
        "RobertaTokenizerFast",
        roberta_byte_pairs,
        {"attention_window": 4, "type_vocab_size": 1},
    ),
    "big_bird": Family(
        "big_bird",
        "PreTrainedTokenizerFast",
        albert_unigrams,
        {"attention_type": "original_full"},
        {"pad_token": "<pad>", "unk_token": "<unk>", **named("cls", "sep")},
    ),
    "t5": Family(
        "t5",
        "PreTrainedTokenizerFast",
        unigrams(("<pad>", "</s>", "<unk>"), "$A:0 </s>:0", "$A:0 </s>:0 $B:0 </s>:0"),
        {
            **{"d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32, "d_kv": 8},
            **NO_SIZES,
            **NO_LENGTH,
        },
        {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>"},
    ),
}


def save_encoder(folder, family="bert", width=16, max_length=24, n_positions=64):
    """Save a tiny encoder of a family, with its tokenizer."""
    import torch
    import transformers

    about = {**FAMILIES, **OTHERS, **MORE}[family]
    folder.mkdir(parents=True, exist_ok=True)
    made = about.make(folder)
    # transformers 5 takes a path for a vocabulary.
    if transformers.__version__ >= "5" or about.tokenizer.startswith("PreTrained"):
        made = {"tokenizer_object": made["tokenizer_object"]}
    tokenizer = getattr(transformers, about.tokenizer)(
        **made, **about.words, model_max_length=max_length
    )
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
    config = transformers.AutoConfig.for_model(about.model, **settings)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def save_bert(folder, width=16, max_length=24):
    """Save a BERT of two layers with a WordPiece tokenizer."""
    return save_encoder(folder, "bert", width, max_length)


def transformer_config(folder, window=128, stride=96):
    """Configure the transformer component."""
    pytest.importorskip("spacy_transformers")
    return {
        "factory": "transformer",
        "model": {
            "@architectures": "spacy-transformers.TransformerModel.v3",
            "name": str(folder),
            "tokenizer_config": {"use_fast": True},
            "get_spans": {
                "@span_getters": "spacy-transformers.strided_spans.v1",
                "window": window,
                "stride": stride,
            },
        },
    }


def encoder_config(folder, **settings):
    """Configure the component spanft_encoder."""
    architecture = {"@architectures": "spacy-spanft.HuggingFaceEncoder.v1"}
    model = {**architecture, "name": str(folder), **settings}
    return {"factory": "spanft_encoder", "model": model}


OWN_LISTENER = {
    "@architectures": "spacy-spanft.EncoderListener.v1",
    "upstream": "*",
    "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_mean.v1"},
}
LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "*",
    "pooling": {"@layers": "reduce_mean.v1"},
}
