"""Two texts in one Doc, with a separator between them."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import SpanftError, shown, warn

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc

SEPARATOR = "[SEP]"


class Pair(NamedTuple):
    """The texts before and after a Doc's separator, and the index of its token.

    Without a separator, the second text is None and the index -1.
    """

    first: str
    second: str | None
    separator: int


def check_separator(separator: str) -> None:
    """Raise for a separator that cannot be a token."""
    if not separator or separator.split() != [separator]:
        raise SpanftError(f"The separator is {shown(separator)}, but must be one word.")


def check_tokenizer(tokenizer: Any) -> None:
    """Raise for a tokenizer of an encoder that cannot encode pairs."""
    if tokenizer.sep_token is None:
        raise SpanftError(
            f"The tokenizer of {tokenizer.name_or_path!r} has no sep_token, so it "
            "cannot encode pairs of texts. Use an encoder such as BERT or RoBERTa, or "
            "name one in [components.transformer.model.tokenizer_config]."
        )


def join_pair(first: str, second: str, separator: str = SEPARATOR) -> str:
    """Join two texts, for a pipeline that was trained on pairs.

    separator (str): The separator of the pipeline's tokenizer, whatever the encoder's
        own looks like.
    """
    check_separator(separator)
    if separator in first:
        raise SpanftError(
            f"The first text of a pair contains the separator {shown(separator)}: "
            f"{shown(first)}. Remove it, or choose another separator."
        )
    return " ".join([first, separator, second])


def join_pairs(
    pairs: Iterable[tuple[str, str]], separator: str = SEPARATOR
) -> Iterator[str]:
    """Join the texts of each pair, for `nlp.pipe`; see `join_pair`."""
    for first, second in pairs:
        yield join_pair(first, second, separator)


def split_pair(doc: "Doc", separator: str = SEPARATOR) -> Pair:
    """Return the two texts of a Doc, exactly as `join_pair` received them.

    Only the first separator counts.
    """
    check_separator(separator)
    text = doc.text
    if separator not in text:
        return Pair(text, None, -1)
    token = next((token for token in doc if token.text == separator), None)
    if token is None:
        raise SpanftError(
            f"The separator {shown(separator)} is not a token by itself in "
            f"{shown(text)}. It needs white space on both sides, and the tokenizer "
            "must know it:\n\n    [nlp.tokenizer]\n    @tokenizers = "
            f'"spacy-spanft.PairTokenizer.v1"\n    separator = "{separator}"'
        )
    # `join_pair` put one space on each side of the separator.
    first = text[: token.idx].removesuffix(" ")
    second = text[token.idx + len(separator) :].removeprefix(" ")
    return Pair(first, second, token.i)


def warn_of_single(owner: Any, docs: "Iterable[Doc]", separator: str) -> None:
    """Warn once, by `owner.has_warned`, of a text that is not a pair.

    The training may have had none. Empty texts do not count.
    """
    if owner.has_warned:
        return
    texts = (doc.text for doc in docs if len(doc))
    text = next((text for text in texts if separator not in text), None)
    if text is not None:
        owner.has_warned = True
        warn(
            f"A text has no separator {separator!r}, so that a pipeline for pairs "
            "encodes it as a single text. Join pairs with spacy_spanft.join_pair. "
            f"The first such text: {text[:60]!r}"
        )


def make_pair_tokenizer(
    separator: str = SEPARATOR,
) -> "Callable[[Language], Tokenizer]":
    """Build `spacy-spanft.PairTokenizer.v1`: the language's own, with a separator.

    separator (str): The separator, which becomes one token wherever white space stands
        around it.
    """
    from spacy.attrs import ORTH
    from spacy.language import create_tokenizer

    check_separator(separator)

    def make(nlp: "Language") -> "Tokenizer":
        tokenizer = create_tokenizer()(nlp)
        tokenizer.add_special_case(separator, [{ORTH: separator}])
        return tokenizer

    return make
