"""From tokens and their tags, IOB1, IOB2, BILUO or BIOES, to Docs with entities."""

import re
from collections.abc import Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, biluo_to_iob, iob_to_biluo
from spacy.vocab import Vocab

from ...errors import Errors, ReaderError

# No second tag after a comma, which data of several annotators has.
_TAG = re.compile(r"O|[BILUES]-(?!\S*,[BIO]\b)\S+")
# The other letters of BILUO and BIOES, in those of IOB.
_IOB = {"U": "B", "S": "B", "L": "I", "E": "I"}


def check_tag(tag: str, place: str) -> None:
    """Raise for what is not a tag.

    place (str): Where it stands, for the message.
    """
    if _TAG.fullmatch(tag):
        return
    upper = tag[:1].upper() + tag[1:]
    is_lower = _TAG.fullmatch(upper) is not None
    hint = Errors.UPPER_CASE.format(tag=upper) if is_lower else ""
    raise ReaderError(Errors.BAD_TAG.format(place=place, tag=tag, hint=hint))


def doc_of_tags(
    vocab: Vocab,
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    pos: list[str] | None = None,
) -> Doc:
    """Make a Doc of sentences, with entities that spaCy reads from the tags.

    vocab (Vocab): The vocabulary.
    words (Sequence[Sequence[str]]): The tokens of each sentence.
    tags (Sequence[Sequence[str]]): Their tags, which have been checked.
    pos (Optional[list[str]]): The part of speech of each token.
    """
    # A sentence at a time: in IOB1, I- at its beginning begins an entity.
    biluo = [iob_to_biluo([_iob(tag) for tag in sentence]) for sentence in tags]
    return Doc(
        vocab,
        words=[word for sentence in words for word in sentence],
        tags=pos,
        ents=biluo_to_iob(tag for sentence in biluo for tag in sentence),
        sent_starts=[i == 0 for sentence in words for i in range(len(sentence))],
    )


def example_of(
    nlp: Language, reference: Doc, spans_key: str | None, *, gold_tokens: bool = True
) -> Example:
    """Make an Example of a Doc with entities.

    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    gold_tokens (bool): Whether the pipeline gets the Doc's own tokens.
    """
    if spans_key is not None:
        reference.spans[spans_key] = list(reference.ents)
    words = [token.text for token in reference]
    predicted = (
        Doc(nlp.vocab, words=words) if gold_tokens else nlp.make_doc(reference.text)
    )
    return Example(predicted, reference)


def _iob(tag: str) -> str:
    return tag if tag == "O" else _IOB.get(tag[0], tag[0]) + tag[1:]
