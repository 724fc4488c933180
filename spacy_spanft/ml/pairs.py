"""Two texts in one Doc, with a separator between them."""

import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import PairError, shown

if TYPE_CHECKING:
    from spacy.tokens import Doc

SEPARATOR = "[SEP]"


class Pair(NamedTuple):
    """The two texts of a Doc.

    first (str): What stands before the separator.
    second (Optional[str]): What stands after it; None where there is no separator.
    separator (int): The index of its token; -1 where there is none.
    """

    first: str
    second: str | None
    separator: int


def check_separator(separator: str) -> None:
    """Raise for a separator that could not be a token by itself."""
    if not separator or separator.split() != [separator]:
        raise PairError(
            f"The separator is {shown(separator)}, but must be a word without white "
            "space."
        )


def check_tokenizer(tokenizer: Any) -> None:
    """Raise for a tokenizer of an encoder that cannot encode pairs.

    tokenizer (PreTrainedTokenizerFast): The tokenizer.
    """
    if not tokenizer.is_fast:
        raise PairError(
            f"{type(tokenizer).__name__} is not a fast tokenizer, so it does not say "
            "which characters its wordpieces are made of. Set use_fast = true in the "
            "transformer's tokenizer_config; some encoders have no fast tokenizer."
        )
    if tokenizer.sep_token is None:
        raise PairError(
            f"The tokenizer of {tokenizer.name_or_path!r} has no separator "
            "(sep_token), so it cannot encode pairs of texts. Use an encoder such as "
            "BERT or RoBERTa, or give it one: "
            '[components.transformer.model.tokenizer_config] sep_token = "</s>"'
        )


def join_pair(first: str, second: str, separator: str = SEPARATOR) -> str:
    """Make one text of two, for a pipeline that was trained on pairs.

    first (str): The first text.
    second (str): The second text.
    separator (str): What the pipeline's tokenizer takes for a separator, whatever the
        encoder's own looks like.
    RETURNS (str): Both, with the separator between them.
    """
    check_separator(separator)
    if not (isinstance(first, str) and isinstance(second, str)):
        raise PairError(
            f"{shown((first, second))} is not a pair of texts. Give two strings for "
            "each: [(first, second), ...]."
        )
    if separator in first:
        raise PairError(
            f"The first text of a pair holds the separator {shown(separator)} itself, "
            f"so nobody could tell where it ends: {shown(first)}. Take it out, or "
            "choose another separator."
        )
    return f"{first} {separator} {second}"


def join_pairs(
    pairs: Iterable[tuple[str, str]], separator: str = SEPARATOR
) -> Iterator[str]:
    """Make one text of each pair, for `nlp.pipe`.

    pairs (Iterable[tuple[str, str]]): The pairs.
    separator (str): What the pipeline's tokenizer takes for a separator.
    YIELDS (str): The texts.
    """
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise PairError(
                f"{shown(pair)} is not a pair of texts. Give two strings for each: "
                "[(first, second), ...]."
            )
        yield join_pair(*pair, separator)


def split_pair(doc: "Doc", separator: str = SEPARATOR) -> Pair:
    """Find the two texts of a Doc again, exactly as `join_pair` got them.

    separator (str): What its tokenizer took for a separator. Only the first one counts.
    RETURNS (Pair): The texts.
    """
    check_separator(separator)
    text = doc.text
    if separator not in text:
        return Pair(text, None, -1)
    place = next((token.i for token in doc if token.text == separator), None)
    if place is None:
        raise PairError(
            f"The separator {shown(separator)} is not a token by itself in "
            f"{shown(text)}. It needs white space on both sides, and the tokenizer "
            "must know it:\n\n    [nlp.tokenizer]\n    @tokenizers = "
            f'"spacy-spanft.PairTokenizer.v1"\n    separator = "{separator}"'
        )
    token = doc[place]
    # `join_pair` put one space on each side of the separator.
    first = text[: token.idx].removesuffix(" ")
    second = text[token.idx + len(separator) :].removeprefix(" ")
    return Pair(first, second, place)


def warn_of_single(owner: Any, docs: "Iterable[Doc]", separator: str) -> None:
    """Warn once of a text that is not a pair: training may have had none.

    owner (Any): What encodes texts. Its attribute has_warned says whether it has.
    docs (Iterable[Doc]): The texts, of which empty ones do not count.
    separator (str): What stands between the texts of a pair.
    """
    if owner.has_warned:
        return
    texts = (doc.text for doc in docs if len(doc))
    text = next((text for text in texts if separator not in text), None)
    if text is not None:
        owner.has_warned = True
        warnings.warn(
            f"A text has no separator {separator!r}, so that it is encoded as a single "
            "text, by a pipeline for pairs. Join pairs with spacy_spanft.join_pair. "
            f"The first such text: {text[:60]!r}",
            stacklevel=3,
        )
