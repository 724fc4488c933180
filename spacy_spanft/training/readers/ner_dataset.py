"""Corpora for named entities from `datasets` datasets: lists of tokens and of tags."""

from collections.abc import Iterator
from itertools import islice

from spacy.language import Language
from spacy.training import Example

from ...errors import Errors, ReaderError
from .conll import Corpus
from .rows import Row, cell_of, check_limit, rows_from_dataset
from .tags import check_tag, doc_of_tags, example_of


def ner_dataset_corpus(
    name: str,
    config: str | None = None,
    split: str = "train",
    tokens: str = "tokens",
    tags: str = "ner_tags",
    spans_key: str | None = None,
    limit: int = 0,
) -> Corpus:
    """Build `spacy-spanft.NerDataset.v1`: Examples from a `datasets` dataset.

    The pipeline gets the dataset's own tokens, as published scores do. Rows without
    any token are left out.

    name (str): Its name on the hub ("lhoestq/conll2003"), or a local folder.
    config (Optional[str]): Its configuration.
    split (str): The split.
    tokens (str): The column with the tokens of each sentence.
    tags (str): The column with their tags: IOB1, IOB2, BILUO or BIOES, as strings or
        as numbers that have names.
    spans_key (Optional[str]): A key in doc.spans for the entities too, for spancat.
    limit (int): Read only so many rows; 0 reads all.
    RETURNS (Callable[[Language], Iterator[Example]]): The corpus.
    """
    check_limit(limit)
    source = f"split {split!r} of {name!r}"

    def corpus(nlp: Language) -> Iterator[Example]:
        rows = rows_from_dataset(name, config, split)
        # All is checked before the first Example, as in the other corpora.
        checked = (_checked(row, source, tokens, tags) for row in rows)
        sentences = list(islice((one for one in checked if one[0]), limit or None))
        if not sentences:
            raise ReaderError(Errors.NO_ROWS.format(source=source))
        for words, own_tags in sentences:
            reference = doc_of_tags(nlp.vocab, [words], [own_tags])
            yield example_of(nlp, reference, spans_key)

    return corpus


def _checked(
    row: Row, source: str, tokens: str, tags: str
) -> tuple[list[str], list[str]]:
    """Give the tokens and the tags of a row."""
    words = cell_of(row, source, "tokens", tokens)
    own_tags = cell_of(row, source, "tags", tags)
    place = {"place": row.place, "source": source}
    if not isinstance(words, list) or not all(isinstance(w, str) and w for w in words):
        message = Errors.NO_TOKENS.format(**place, value=words, column=tokens)
        raise ReaderError(message)
    if not isinstance(own_tags, list) or not all(isinstance(t, str) for t in own_tags):
        message = Errors.NUMBERED_TAGS.format(**place, value=own_tags, column=tags)
        raise ReaderError(message)
    if len(words) != len(own_tags):
        found = {"n_tokens": len(words), "n_tags": len(own_tags)}
        raise ReaderError(Errors.OTHER_LENGTHS.format(**place, **found))
    for tag in own_tags:
        check_tag(tag, f"{row.place} of {source}")
    return words, own_tags
