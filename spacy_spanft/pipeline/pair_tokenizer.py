"""The tokenizer of a pipeline for pairs of texts."""

from collections.abc import Callable

from spacy.attrs import ORTH
from spacy.language import Language, create_tokenizer
from spacy.tokenizer import Tokenizer

from ..ml.pairs import SEPARATOR, check_separator


def make_pair_tokenizer(
    separator: str = SEPARATOR,
) -> Callable[[Language], Tokenizer]:
    """Build `spacy-spanft.PairTokenizer.v1`: the language's own, with a separator.

    separator (str): The separator, which becomes one token wherever white space stands
        around it.
    RETURNS (Callable[[Language], Tokenizer]): What makes the tokenizer.
    """
    check_separator(separator)

    def make(nlp: Language) -> Tokenizer:
        tokenizer = create_tokenizer()(nlp)
        tokenizer.add_special_case(separator, [{ORTH: separator}])
        return tokenizer

    return make
