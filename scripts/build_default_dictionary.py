"""Build the English dictionary that comes with the package.

It is made of the 100,000 most frequent n-grams of the English Wikipedia of 2015: the
cleaned text of its articles, a paragraph a line, 65 million words between white
space. Only n-grams and their counts go into the file. On two cores it takes about a
minute:

    python scripts/build_default_dictionary.py enwiki2015.txt.zst
"""

from dataclasses import replace
from pathlib import Path

import typer

from spacy_spanft import NgramDictionary
from spacy_spanft.ngrams.dictionary import DEFAULT_FILES

SIZE = 100_000
SOURCE = "English Wikipedia, 2015 (cleaned text, a paragraph a line)"
DATA = Path(__file__).parent.parent / "spacy_spanft" / "ngrams" / "data"


def main(text: Path, n_process: int = 2) -> None:
    """Count the n-grams of a text, and keep the most frequent ones."""
    counted = NgramDictionary.from_files(text, n_process=n_process, progress=True)
    kept = counted.top(SIZE)
    origin = replace(kept.provenance, sources=(SOURCE,))
    target = DATA / DEFAULT_FILES["en"]
    NgramDictionary(kept, words=kept.words, attr=kept.attr, provenance=origin).to_disk(
        target
    )
    print(f"Wrote {len(kept):,} n-grams of {len(counted):,} to {target}")


if __name__ == "__main__":
    typer.run(main)
