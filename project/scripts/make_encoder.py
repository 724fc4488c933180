"""Make a small BERT on the spot: a WordPiece vocabulary and random weights."""

from pathlib import Path

import typer


def main(
    text: Path,
    output: Path,
    layers: int = 2,
    width: int = 64,
    vocab_size: int = 400,
    max_length: int = 128,
    seed: int = 0,
) -> None:
    """Learn the vocabulary from a text, and write a folder that transformers reads."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    made = BertWordPieceTokenizer(lowercase=True)
    made.train([str(text)], vocab_size=vocab_size, show_progress=False)
    output.mkdir(parents=True, exist_ok=True)
    made.save_model(str(output))
    file = str(output / "vocab.txt")
    tokenizer = BertTokenizerFast(file, model_max_length=max_length)
    tokenizer.save_pretrained(output)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 32),
        intermediate_size=4 * width,
        max_position_embeddings=max_length,
    )
    torch.manual_seed(seed)
    BertModel(config).save_pretrained(output)


if __name__ == "__main__":
    typer.run(main)
