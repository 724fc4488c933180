"""Segmenters that use NLTK's chunkers: the paper's comparison."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from spacy.tokens import Doc, Token

from ..errors import Errors, SpanftError
from .types import Segment, Segmentation, check_docs

Chunker: TypeAlias = Literal["entities", "phrases"]
TaggedTokens: TypeAlias = list[tuple[str, str]]

# What the phrases need, as NLTK's find() takes it.
PHRASE_DATA = ("taggers/averaged_perceptron_tagger_eng", "corpora/conll2000")
# How often the perceptron sees conll2000: F 92.7 on its test part after two rounds
# (the bigram chunker of NLTK's book has 83.7).
_ROUNDS = 2


class NltkChunkSegmenter:
    """Cuts Docs into the chunks that NLTK finds.

    NLTK tags and chunks the Doc's own tokens, so nothing is tokenized twice, and
    nothing needs to be aligned.
    """

    def __init__(
        self,
        load_tagger: Callable[[], Any],
        load_chunker: Callable[[], Any],
        packages: str = "",
    ) -> None:
        """Make a segmenter.

        load_tagger (Callable): Called for each batch; gives an `nltk.tag.TaggerI`.
        load_chunker (Callable): The same for an `nltk.chunk.ChunkParserI`.
        packages (str): NLTK's names of the data that they need.
        """
        self._load_tagger = load_tagger
        self._load_chunker = load_chunker
        self._packages = packages

    def __call__(self, docs: Sequence[Doc]) -> list[Segmentation]:
        """Find the chunks in Docs.

        docs (Sequence[Doc]): The Docs. Where sentences are marked, each is tagged
            by itself.
        RETURNS (list[Segmentation]): The chunks with their labels, for each Doc.
        """
        check_docs(docs)
        try:
            tagger, chunker = self._load_tagger(), self._load_chunker()
            return [list(_chunks(doc, tagger, chunker)) for doc in docs]
        except LookupError as error:
            if type(error) is not LookupError:  # IndexError and KeyError are some too
                raise
            raise SpanftError(_missing_data(error, self._packages)) from error


def _chunks(doc: Doc, tagger: Any, chunker: Any) -> Iterator[Segment]:
    for tokens in _sentences(doc):
        tagged = tagger.tag([token.text for token in tokens])
        position = 0
        for child in chunker.parse(tagged):
            if isinstance(child, tuple):  # a token outside of any chunk
                position += 1
                continue
            first, last = tokens[position], tokens[position + len(child) - 1]
            position += len(child)
            if last.i > first.i:
                yield first.i, last.i + 1, child.label()


def _sentences(doc: Doc) -> Iterator[list[Token]]:
    """Go through the words of each sentence; NLTK knows no tokens of white space."""
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence in sentences:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield tokens


class PhraseChunker:
    """Chunks noun, verb and prepositional phrases (NP, VP, PP).

    NLTK's averaged perceptron, trained on its conll2000 corpus to tell each tagged
    word's place in a phrase.
    """

    def __init__(self, sentences: Sequence[Any]) -> None:
        """Train the chunker.

        sentences (Sequence[nltk.Tree]): Sentences of tagged words in phrases.
        """
        from nltk.chunk import tree2conlltags
        from nltk.tag import PerceptronTagger

        examples = [
            [(_feature(word, tag), place) for word, tag, place in tree2conlltags(tree)]
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

    def parse(self, tagged: TaggedTokens) -> Any:
        """Find the phrases of a sentence.

        tagged (list[tuple[str, str]]): Words and part-of-speech tags.
        RETURNS (nltk.Tree): The sentence with its phrases.
        """
        from nltk.chunk import conlltags2tree

        places = self._tagger.tag([_feature(word, tag) for word, tag in tagged])
        rows = zip(tagged, places, strict=True)
        return conlltags2tree([(word, tag, place) for (word, tag), (_, place) in rows])


def _feature(word: str, tag: str) -> str:
    return f"{word}/{tag}"


@lru_cache
def load_tagger() -> Any:
    """Load NLTK's English part-of-speech tagger."""
    from nltk.tag import PerceptronTagger

    return PerceptronTagger()


@lru_cache
def load_entity_chunker() -> Any:
    """Load NLTK's pre-trained named-entity chunker."""
    from nltk.chunk import ne_chunker

    return ne_chunker(fmt="binary")


@lru_cache
def load_phrase_chunker() -> Any:
    """Train the phrase chunker on NLTK's conll2000 corpus, in about ten seconds."""
    from nltk.corpus import conll2000

    return PhraseChunker(conll2000.chunked_sents("train.txt"))


# How to load each chunker, and which of NLTK's packages it needs.
_CHUNKERS: dict[str, tuple[Callable[[], Any], str]] = {
    "entities": (
        load_entity_chunker,
        "averaged_perceptron_tagger_eng maxent_ne_chunker_tab words",
    ),
    "phrases": (load_phrase_chunker, "averaged_perceptron_tagger_eng conll2000"),
}


def has_phrase_data(*folders: Path) -> bool:
    """Say whether NLTK finds what its phrases need.

    *folders (Path): Folders to look into, after NLTK's own.
    RETURNS (bool): Whether all of it is there.
    """
    import nltk

    paths = [*nltk.data.path, *map(str, folders)]
    try:
        for resource in PHRASE_DATA:
            nltk.data.find(resource, paths)
    except LookupError:
        return False
    return True


def _missing_data(error: LookupError, packages: str) -> str:
    import nltk

    resources = re.findall(r"Resource '?(\S+?)'? not found", str(error))
    return Errors.NO_NLTK_DATA.format(
        resource=", ".join(resources) or str(error).strip(),
        packages=packages or " ".join(resources),
        searched=", ".join(nltk.data.path),
    )


def make_nltk_chunk_segmenter(
    chunker: Chunker = "entities", data_dir: str | None = None
) -> NltkChunkSegmenter:
    """Make the segmenter in a config.

    chunker (str): "entities" for NLTK's pre-trained named-entity chunker, "phrases"
        for noun, verb and prepositional phrases as in its conll2000 corpus.
    data_dir (Optional[str]): A folder of NLTK's data, looked at after all others.
    RETURNS (NltkChunkSegmenter): The segmenter.
    """
    if chunker not in _CHUNKERS:
        raise SpanftError(Errors.BAD_CHUNKER.format(value=chunker))
    if data_dir is not None:
        import nltk

        if data_dir not in nltk.data.path:
            nltk.data.path.append(data_dir)
    load_chunker, packages = _CHUNKERS[chunker]
    return NltkChunkSegmenter(load_tagger, load_chunker, packages)
