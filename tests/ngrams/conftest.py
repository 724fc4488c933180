"""Tokenizers are made once: their thousand exceptions take longer than a count."""

from functools import cache

import pytest

from spacy_spanft.ngrams.counting import tokens


@pytest.fixture(scope="package", autouse=True)
def cached_tokenizers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "lean", cache(tokens.lean))
        of_language = cache(tokens._tokenizer_of_language)
        patch.setattr(tokens, "_tokenizer_of_language", of_language)
        yield
