"""Make the dictionaries of a task: the default one, its own, and both merged.

Its own is counted on its training texts. The n-grams of both have their counts added.
"""

from pathlib import Path

import spacy
import typer
from spacy.tokens import DocBin

from spacy_spanft import NgramDictionary, default_dictionary
from spacy_spanft.cli.util import short_errors
from spacy_spanft.ml.pairs import SEPARATOR


def main(data: Path, min_count: int = 3, max_n: int = 5, base: str = "") -> None:
    """Read DATA/train.spacy, and write the dictionaries beside it.

    base is a dictionary to take in the place of the default one.
    """
    with short_errors():
        general = NgramDictionary.from_disk(base) if base else default_dictionary()
        vocab = spacy.blank("xx").vocab
        docs = DocBin().from_disk(data / "train.spacy").get_docs(vocab)
        # The texts have their tokens already, and no n-gram crosses a separator.
        texts = (" ".join(t.text for t in doc if not t.is_space) for doc in docs)
        lines = (text.replace(SEPARATOR, "\n") for text in texts)
        own = NgramDictionary.from_texts(
            lines,
            source=(data / "train.spacy").as_posix(),
            tokenizer="whitespace",
            min_count=min_count,
            max_n=max_n,
        )
        general.to_disk(data / "default.tsv.gz")
        own.to_disk(data / "task.tsv.gz")
        general.merge(own).to_disk(data / "merged.tsv.gz")


if __name__ == "__main__":
    typer.run(main)
