"""Dictionaries by name or path: the default ones, and the reader for configs."""

from functools import cache
from importlib import resources
from pathlib import Path

from ..errors import SpanftError
from .dictionary import NgramDictionary

DEFAULT_FILES = {"en": "en_wiki2015.tsv.gz"}


def default_dictionary(lang: str = "en") -> NgramDictionary:
    """Read the dictionary that comes with the package, once.

    lang (str): The language.
    RETURNS (NgramDictionary): For "en", the 100,000 most frequent n-grams of the
        English Wikipedia of 2015.
    """
    return _read_default(lang)


@cache  # by the language alone, however the function above was called
def _read_default(lang: str) -> NgramDictionary:
    if lang not in DEFAULT_FILES:
        raise SpanftError(
            f"There is no default dictionary for {lang!r}. Build one with: python -m "
            f"spacy spanft dictionary build TEXT -o FILE --lang {lang}"
        )
    file = resources.files(__package__) / "data" / DEFAULT_FILES[lang]
    return NgramDictionary.from_bytes(file.read_bytes(), name=file.name)


def read_dictionary(
    path: str | Path, top_k: int | None = None, min_count: int = 1
) -> NgramDictionary:
    """Read a dictionary in a config's [initialize] block.

    path (Union[str, Path]): The file.
    top_k (Optional[int]): Keep only the k most frequent n-grams.
    min_count (int): Keep only the n-grams that occur this often.
    RETURNS (NgramDictionary): The dictionary.
    """
    dictionary = NgramDictionary.from_disk(path)
    if min_count != 1:
        dictionary = dictionary.filter(min_count)
    return dictionary if top_k is None else dictionary.top(top_k)
