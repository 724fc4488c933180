"""Segmenters that use NLTK's chunkers: the paper's comparison."""

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import nltk
from nltk.chunk import conlltags2tree, ne_chunker, tree2conlltags
from nltk.corpus import conll2000
from nltk.tag import PerceptronTagger
from spacy.tokens import Doc

from ..errors import SpanftError
from . import Segment, Segmentation

Chunker: TypeAlias = Literal["entities", "phrases"]

_PACKAGES = {
    "entities": "averaged_perceptron_tagger_eng maxent_ne_chunker_tab words",
    "phrases": "averaged_perceptron_tagger_eng conll2000",
}
# How often the perceptron sees conll2000: F 92.7 on its test part after two rounds
# (the bigram chunker of NLTK's book has 83.7).
_ROUNDS = 2


class NltkChunkSegmenter:
    """Cuts Docs into the chunks of NLTK, which tags and chunks the Doc's own tokens.

    chunker (str): "entities" for NLTK's pre-trained named-entity chunker, "phrases" for
        noun, verb and prepositional phrases as in its conll2000 corpus.
    data_dir (Optional[str]): A folder of NLTK's data, searched after all others.
    """

    def __init__(
        self, chunker: Chunker = "entities", data_dir: str | None = None
    ) -> None:
        """Build `spacy-spanft.NltkChunkSegmenter.v1`."""
        self._chunker = chunker
        if data_dir is not None and data_dir not in nltk.data.path:
            nltk.data.path.append(data_dir)

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Return the chunks in Docs, with their labels."""
        try:
            tagger, chunker = load_tools(self._chunker)
            return [list(_chunks(doc, tagger, chunker)) for doc in docs]
        except LookupError as error:
            if type(error) is not LookupError:  # an IndexError or a KeyError
                raise
            raise SpanftError(
                "NLTK's data is missing. Download it: python -m nltk.downloader "
                f"{_PACKAGES[self._chunker]}. Where it is already, name the folder in "
                "the environment variable NLTK_DATA, or as data_dir of the segmenter. "
                f"Searched: {', '.join(nltk.data.path)}."
            ) from error


def _chunks(doc: Doc, tagger: Any, chunker: Any) -> Iterator[Segment]:
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence in sentences:
        # NLTK knows no tokens of white space.
        tokens = [token for token in sentence if not token.is_space]
        tagged = tagger.tag([token.text for token in tokens]) if tokens else []
        position = 0
        for child in chunker.parse(tagged) if tokens else ():
            if isinstance(child, tuple):  # a token outside of any chunk
                position += 1
                continue
            first, last = tokens[position], tokens[position + len(child) - 1]
            position += len(child)
            if last.i > first.i:
                yield first.i, last.i + 1, child.label()


class PhraseChunker:
    """Chunks phrases: a perceptron predicts each tagged word's position in one."""

    def __init__(self, sentences: Sequence[Any]) -> None:
        """Train the chunker on sentences of tagged words in phrases (`nltk.Tree`)."""
        examples = [
            [(f"{word}/{tag}", iob) for word, tag, iob in tree2conlltags(tree)]
            for tree in sentences
        ]
        self._tagger = PerceptronTagger(load=False)
        # NLTK shuffles with the global random numbers: the same chunker every time,
        # and everybody else's numbers as they were.
        state = random.getstate()
        random.seed(0)
        try:
            self._tagger.train(examples, nr_iter=_ROUNDS)
        finally:
            random.setstate(state)

    def parse(self, tagged: list[tuple[str, str]]) -> Any:
        """Return a sentence of words and part-of-speech tags with its phrases."""
        tags = self._tagger.tag([f"{word}/{tag}" for word, tag in tagged])
        rows = zip(tagged, tags, strict=True)
        return conlltags2tree([(word, tag, iob) for (word, tag), (_, iob) in rows])


@cache
def load_tools(chunker: Chunker) -> tuple[Any, Any]:
    """Load NLTK's English tagger, and a chunker; that of phrases takes ten seconds."""
    tagger = PerceptronTagger()
    if chunker == "entities":
        return tagger, ne_chunker(fmt="binary")
    return tagger, PhraseChunker(conll2000.chunked_sents("train.txt"))
