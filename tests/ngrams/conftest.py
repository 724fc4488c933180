"""Tokenizers are made once: their thousand exceptions take longer than a count."""

from functools import cache

import pytest
from spacy.lang.en import TOKENIZER_EXCEPTIONS, English

from spacy_spanft.ngrams.counting import tokens


@pytest.fixture(scope="package", autouse=True)
def cached_tokenizers():
    with pytest.MonkeyPatch.context() as patch:
        # All of them, where the rules themselves are tested.
        patch.setattr(English.Defaults, "tokenizer_exceptions", TOKENIZER_EXCEPTIONS)
        patch.setattr(tokens, "lean", cache(tokens.lean))
        of_language = cache(tokens._tokenizer_of_language)
        patch.setattr(tokens, "_tokenizer_of_language", of_language)
        yield
