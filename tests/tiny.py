"""Tiny transformers, made on the spot: a vocabulary, a tokenizer, random weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

WORDS = (
    *("the", "a", "in", "of", "is", "it", "new", "york", "city", "united", "states"),
    *("airlines", "holding", "not", "very", "good", "bad", "film", "this", "that"),
    *("was", "un", "##believ", "##able", "##s", "##ing", "##ed", "play", "walk"),
    *(".", ",", "!", "?", "-", "'"),
)


LETTERS = tuple(chr(code) for code in range(ord("a"), ord("z") + 1))
CAPITALS = tuple(letter.upper() for letter in LETTERS)
SPECIAL_NAMES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Family(NamedTuple):
    """A family of encoders.

    model (str): What transformers calls its architecture.
    tokenizer (str): The class of its tokenizer.
    make (Callable): Makes what the tokenizer is made of.
    settings (dict[str, Any]): Of its architecture, where they matter.
    words (dict[str, Any]): Of its tokenizer.
    """

    model: str
    tokenizer: str
    make: Callable[[Path], dict[str, Any]]
    settings: dict[str, Any] = {}  # noqa: RUF012
    words: dict[str, Any] = {}  # noqa: RUF012


def word_pieces(folder, *more, lowercase=True, names=None):
    """Make a WordPiece tokenizer, and write its vocabulary.

    It holds the letters too, so that no word is unknown.
    """
    from tokenizers import BertWordPieceTokenizer

    letters = [*LETTERS, *(letter for letter in more if len(letter) == 1)]
    vocabulary = [*SPECIAL, *WORDS, *more, *letters, *(f"##{x}" for x in letters)]
    vocabulary = [(names or {}).get(piece, piece) for piece in vocabulary]
    ids = {piece: i for i, piece in enumerate(dict.fromkeys(vocabulary))}
    file = folder / "vocab.txt"
    file.write_text("\n".join(ids) + "\n", encoding="utf8")
    special = {
        f"{name[1:-1].lower()}_token": (names or {}).get(name, name) for name in SPECIAL
    }
    made = BertWordPieceTokenizer(ids, lowercase=lowercase, **special)
    return {"vocab_file": str(file), "tokenizer_object": made._tokenizer}


def cased_word_pieces(folder):
    """Write one that knows capital letters."""
    words = ("The", "New", "York", "United", "States")
    return word_pieces(folder, *words, *CAPITALS, lowercase=False)


def mpnet_word_pieces(folder):
    """Write MPNet's, which is BERT's with the special tokens of RoBERTa."""
    names = {"[PAD]": "<pad>", "[CLS]": "<s>", "[SEP]": "</s>", "[MASK]": "<mask>"}
    made = word_pieces(folder, names=names)
    both = "<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0"
    return _with_special(made, "<s>:0 $A:0 </s>:0", both, ("<s>", "</s>"))


def byte_pairs(folder, special=SPECIAL, trim_offsets=True):
    """Train a byte-level BPE on a few words."""
    from tokenizers import ByteLevelBPETokenizer

    bpe = ByteLevelBPETokenizer(trim_offsets=trim_offsets)
    texts = [" ".join(word for word in WORDS if "#" not in word)] * 3
    bpe.train_from_iterator(
        texts, vocab_size=600, special_tokens=list(special), show_progress=False
    )
    bpe.save_model(str(folder))
    return {
        "vocab_file": str(folder / "vocab.json"),
        "merges_file": str(folder / "merges.txt"),
        "tokenizer_object": bpe._tokenizer,
    }


def roberta_byte_pairs(folder):
    """Train one with the special tokens of RoBERTa."""
    from tokenizers import processors

    made = byte_pairs(folder, ("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    made["tokenizer_object"].post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return made


def bert_byte_pairs(folder):
    """Train one with the special tokens of BERT, as DeBERTa and ModernBERT have it."""
    both = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"
    made = byte_pairs(folder)
    return _with_special(made, "[CLS]:0 $A:0 [SEP]:0", both, ("[CLS]", "[SEP]"))


def alone(make):
    """Make a tokenizer without the files that it was converted from."""
    return lambda folder: {"tokenizer_object": make(folder)["tokenizer_object"]}


def _with_special(made, single, pair, special):
    """Let a tokenizer put special tokens around texts and pairs of them."""
    from tokenizers import processors

    tokenizer = made["tokenizer_object"]
    ids = [(name, tokenizer.token_to_id(name)) for name in special]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=ids
    )
    return made


def unigrams(folder, file, special, normalizer, single="[CLS]:0 $A:0 [SEP]:0"):
    """Make a tokenizer as SentencePiece's unigrams are converted to."""
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    pieces = [f"▁{word}" for word in WORDS if "#" not in word]
    pieces += [word.removeprefix("##") for word in WORDS if "##" in word]
    letters = ["▁", *LETTERS, *CAPITALS, *".,!?-'"]
    scored = [(piece, 0.0) for piece in special]
    scored += [(piece, -2.0) for piece in dict.fromkeys(pieces)]
    scored += [(piece, -9.0) for piece in letters if piece not in pieces]
    ids = {piece: i for i, (piece, _) in enumerate(scored)}
    unknown = next(piece for piece in special if "unk" in piece.lower())
    made = Tokenizer(Unigram(scored, unk_id=ids[unknown]))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    made.normalizer = normalizers.Sequence([*normalizer(normalizers), spaces])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    pair = "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1" if "[CLS]:0 $A" in single else None
    made.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(piece, ids[piece]) for piece in special if piece in single],
    )
    # spacy-transformers copies the file that it was converted from, unread.
    (folder / file).write_bytes(b"not read where there is a tokenizer.json")
    return {"tokenizer_object": made, "vocab_file": str(folder / file)}


def albert_unigrams(folder):
    """Make one that takes off accents and folds case."""
    special = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")

    def normalizer(known):
        return [known.NFKD(), known.StripAccents(), known.Lowercase()]

    return unigrams(folder, "spiece.model", special, normalizer)


def deberta_unigrams(folder):
    """Make one that keeps both, but not the white space around a text."""
    special = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
    return unigrams(folder, "spm.model", special, lambda known: [known.Strip()])


def xlnet_unigrams(folder):
    """Make one that puts its [CLS] behind the text, and padding before it."""
    special = ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>")
    single = "$A:0 <sep>:0 <cls>:2"
    return unigrams(folder, "spiece.model", special, lambda _: [], single)


def gpt2_byte_pairs(folder):
    """Train one that adds nothing to a text."""
    return byte_pairs(folder, ("<|endoftext|>", "<pad>"))


def llama_unigrams(folder):
    """Make one that puts <s> before a text, and nothing after it."""
    special = ("<pad>", "<unk>", "<s>", "</s>")
    return unigrams(folder, "spiece.model", special, lambda _: [], "<s>:0 $A:0")


def xlmr_unigrams(folder):
    """Make one that keeps capital letters, with the special tokens of RoBERTa."""
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    single = "<s>:0 $A:0 </s>:0"
    made = unigrams(folder, "sentencepiece.bpe.model", special, lambda _: [], single)
    both = "<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0"
    return _with_special(made, single, both, ("<s>", "</s>"))


def t5_unigrams(folder):
    """Make one that puts </s> after each text, and nothing before it."""
    special = ("<pad>", "</s>", "<unk>")
    single = "$A:0 </s>:0"
    made = unigrams(folder, "spiece.model", special, lambda _: [], single)
    return _with_special(made, single, "$A:0 </s>:0 $B:0 </s>:0", ("</s>",))


STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
RELATIVE = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
FAMILIES = {
    "bert": Family(
        "bert", "BertTokenizerFast", word_pieces, {"num_hidden_layers": 2, **STILL}
    ),
    # BERT with whole-word masking is the same in all but its training.
    "bert-cased": Family(
        "bert", "BertTokenizerFast", cased_word_pieces, words={"do_lower_case": False}
    ),
    "roberta": Family(
        "roberta", "RobertaTokenizerFast", roberta_byte_pairs, {"type_vocab_size": 1}
    ),
    "spanbert": Family(
        "bert",
        "BertTokenizerFast",
        cased_word_pieces,
        words={
            "do_lower_case": False,
            "model_input_names": ["input_ids", "attention_mask"],
        },
    ),
    "electra": Family(
        "electra", "ElectraTokenizerFast", word_pieces, {"embedding_size": 8}
    ),
    "albert": Family(
        "albert", "AlbertTokenizerFast", albert_unigrams, {"embedding_size": 8, **STILL}
    ),
    "deberta": Family("deberta", "DebertaTokenizerFast", bert_byte_pairs, RELATIVE),
    "deberta-v2": Family(
        "deberta-v2",
        "DebertaV2TokenizerFast",
        deberta_unigrams,
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
        xlnet_unigrams,
        # It has no longest text, and does not want to be told of one.
        {
            **{"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 32, "dropout": 0.0},
            **dict.fromkeys(["hidden_size", "num_hidden_layers"]),
            **dict.fromkeys(["num_attention_heads", "max_position_embeddings"]),
        },
        {"padding_side": "left"},
    ),
    "gpt2": Family(
        "gpt2",
        "GPT2TokenizerFast",
        gpt2_byte_pairs,
        {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 64},
        {"pad_token": "<pad>"},
    ),
    "llama": Family(
        "llama",
        "PreTrainedTokenizerFast",
        alone(llama_unigrams),
        words={"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"},
    ),
}

NOTHING = dict.fromkeys(
    ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
)
# Encoders that spacy-transformers is not asked for here.
MORE = {
    "distilbert": Family(
        "distilbert",
        "BertTokenizerFast",
        word_pieces,
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, **NOTHING},
        {"model_input_names": ["input_ids", "attention_mask"]},
    ),
    "mpnet": Family("mpnet", "MPNetTokenizerFast", mpnet_word_pieces),
    "xlm-roberta": Family(
        "xlm-roberta",
        "XLMRobertaTokenizerFast",
        xlmr_unigrams,
        {"type_vocab_size": 1},
    ),
    "camembert": Family(
        "camembert", "CamembertTokenizerFast", xlmr_unigrams, {"type_vocab_size": 1}
    ),
    "modernbert": Family(
        "modernbert",
        "PreTrainedTokenizerFast",
        alone(bert_byte_pairs),
        {"global_attn_every_n_layers": 1, "local_attention": 8},
        {name: f"[{name[:-6].upper()}]" for name in SPECIAL_NAMES},
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
        alone(albert_unigrams),
        {"attention_type": "original_full"},
        {name: f"[{name[:-6].upper()}]" for name in ("cls_token", "sep_token")}
        | {"pad_token": "<pad>", "unk_token": "<unk>"},
    ),
    "t5": Family(
        "t5",
        "PreTrainedTokenizerFast",
        alone(t5_unigrams),
        {
            **{"d_model": 16, "num_layers": 1, "num_heads": 2, "d_ff": 32, "d_kv": 8},
            **NOTHING,
            **dict.fromkeys(["max_position_embeddings"]),
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
    if transformers.__version__ >= "5":  # it takes a path for a vocabulary
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
