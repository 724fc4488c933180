"""The lengths of the pieces into which the default dictionary cuts English.

    python -m benchmarks.span_lengths wikitext103.valid.tokens

These shares are the defaults of the random segmenter, so that its pieces are as long as
those of n-grams.
"""

import spacy
import typer
from spacy.tokens import Doc

from spacy_spanft import default_dictionary
from spacy_spanft.segmenters.random import piece_lengths

from .arguments import File


def main(text: File) -> None:
    """Measure."""
    vocab = spacy.blank("en").vocab
    lines = text.read_text(encoding="utf8").split("\n")
    docs = [Doc(vocab, words=line.split()) for line in lines if line.strip()]
    shares = piece_lengths(docs, default_dictionary())
    for n, share in enumerate(shares, 1):
        print(f"{n} tokens: {share:.3f}")


if __name__ == "__main__":
    typer.run(main)
