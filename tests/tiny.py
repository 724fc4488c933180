"""Tiny transformers, made on the spot: a vocabulary, a tokenizer, random weights."""

WORDS = (
    *("the", "a", "in", "of", "is", "it", "new", "york", "city", "united", "states"),
    *("airlines", "holding", "not", "very", "good", "bad", "film", "this", "that"),
    *("was", "un", "##believ", "##able", "##s", "##ing", "##ed", "play", "walk"),
    *(".", ",", "!", "?", "-", "'"),
)


def save_bert(folder, width=16, max_length=24):
    """Save a BERT of two layers with a WordPiece tokenizer.

    The vocabulary holds the letters too, so that no word is unknown.
    """
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = [*special, *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "vocab.txt"
    file.write_text("\n".join(dict.fromkeys(vocabulary)) + "\n", encoding="utf8")
    tokenizer = BertTokenizerFast(str(file), model_max_length=max_length)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def save_roberta(folder, width=16, max_length=24):
    """Save a RoBERTa of one layer with a byte-level BPE, trained on a few words."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe = ByteLevelBPETokenizer()
    texts = [" ".join(word for word in WORDS if "#" not in word)] * 3
    bpe.train_from_iterator(
        texts, vocab_size=600, special_tokens=special, show_progress=False
    )
    bpe.save_model(str(folder))
    files = (str(folder / "vocab.json"), str(folder / "merges.txt"))
    tokenizer = RobertaTokenizerFast(*files, model_max_length=max_length)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=64,
        type_vocab_size=1,
    )
    RobertaModel(config).save_pretrained(folder)
    return folder


def transformer_config(folder, window=128, stride=96):
    """Configure the transformer component."""
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


LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "*",
    "pooling": {"@layers": "reduce_mean.v1"},
}
