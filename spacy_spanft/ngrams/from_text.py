"""Dictionaries that are counted: from files, texts, datasets, and in shards."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from typing_extensions import Self, Unpack

from ..errors import CorpusError, Errors, Warnings
from .counting.settings import Attr, CountSettings, Settings, settings_of
from .provenance import Provenance
from .text.blocks import ErrorHandling, blocks_from_texts
from .text.hub import texts_from_dataset
from .text.units import blocks_of, check_paths

if TYPE_CHECKING:
    from .counting.count import NgramCounts


class FromText:
    """What makes an `NgramDictionary` of text."""

    @classmethod
    @abstractmethod
    def _trusted(
        cls,
        counts: dict[str, int],
        words: dict[str, int],
        attr: Attr,
        provenance: Provenance,
    ) -> Self:
        """Make a dictionary of parts that need no check."""

    @classmethod
    def from_files(
        cls,
        paths: str | Path | Iterable[str | Path],
        *,
        column: str = "text",
        errors: ErrorHandling = "strict",
        **settings: Unpack[CountSettings],
    ) -> Self:
        """Count the n-grams of files: text, JSONL (.jsonl, .ndjson) and Parquet.

        Text and JSONL may be compressed (.gz, .bz2, .zst).

        paths (Union[str, Path, Iterable]): The files; "-" is the standard input.
        column (str): The column or key that holds the text in Parquet and JSONL.
        errors (str): What to do about bytes that are not text, and null in the place of
            a text: "strict" raises, "replace" goes on.
        **settings: How to count; see `CountSettings`.
        RETURNS (NgramDictionary): The n-grams that occur often enough.
        """
        files = check_paths(paths)
        blocks = blocks_of(files, column=column, errors=errors)
        return cls.from_blocks(blocks, files, **settings)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        source: str = "texts",
        **settings: Unpack[CountSettings],
    ) -> Self:
        """Count the n-grams of texts. An n-gram never crosses a line.

        texts (Iterable[str]): The texts.
        source (str): What the provenance calls them.
        **settings: How to count; see `CountSettings`.
        RETURNS (NgramDictionary): The n-grams that occur often enough.
        """
        return cls.from_blocks(blocks_from_texts(texts), [source], **settings)

    @classmethod
    def from_dataset(
        cls,
        name: str,
        config: str | None = None,
        *,
        split: str = "train",
        column: str = "text",
        streaming: bool = True,
        **settings: Unpack[CountSettings],
    ) -> Self:
        """Count the n-grams of a `datasets` dataset.

        name (str): Its name on the hub ("wikitext"), or a local folder.
        config (Optional[str]): Its configuration ("wikitext-103-raw-v1").
        split (str): The split.
        column (str): The column that holds the text.
        streaming (bool): Read while downloading, without keeping a copy.
        **settings: How to count; see `CountSettings`.
        RETURNS (NgramDictionary): The n-grams that occur often enough.
        """
        texts = texts_from_dataset(
            name, config, split=split, column=column, streaming=streaming
        )
        source = "/".join(filter(None, (name, config, split)))
        return cls.from_texts(texts, source=source, **settings)

    @classmethod
    def from_blocks(
        cls,
        blocks: Iterable[bytes],
        sources: Iterable[str],
        **settings: Unpack[CountSettings],
    ) -> Self:
        """Count the n-grams of text in blocks; see `corpus.blocks`.

        blocks (Iterable[bytes]): Whole lines of UTF-8, each block with a newline at
            its end.
        sources (Iterable[str]): What the provenance calls them.
        **settings: How to count; see `CountSettings`.
        RETURNS (NgramDictionary): The n-grams that occur often enough.
        """
        # Arrow is heavy, and only counting needs it.
        from .counting.count import count_blocks

        chosen = settings_of(settings)
        return cls.from_counts(count_blocks(blocks, chosen), sources, chosen)

    @classmethod
    def from_shards(
        cls,
        paths: str | Path | Iterable[str | Path],
        *,
        column: str = "text",
        errors: ErrorHandling = "strict",
        engine: Literal["local", "ray"] = "local",
        address: str | None = None,
        memory: int | None = None,
        work: str | Path | None = None,
        **settings: Unpack[CountSettings],
    ) -> Self:
        """Count the n-grams of files in bounded memory, on many cores or machines.

        The counts are those of `from_files`. Temporary files take about twice the size
        of the text.

        paths (Union[str, Path, Iterable]): The files; see `from_files`.
        column (str): The column or key that holds the text in Parquet and JSONL.
        errors (str): What to do about what is not text: "strict" or "replace".
        engine (str): "local" for n_process workers on this machine, "ray" for as many
            on a Ray cluster.
        address (Optional[str]): The Ray cluster (HOST:PORT); None for that in
            $RAY_ADDRESS, or a new one on this machine.
        memory (Optional[int]): The bytes that counting should use at most.
        work (Optional[Union[str, Path]]): A folder for temporary files, which all
            machines of a cluster can see; None for the system's.
        **settings: How to count; see `CountSettings`.
        RETURNS (NgramDictionary): The n-grams that occur often enough.
        """
        from .shards.bounded import count_in_shards

        files, chosen = check_paths(paths), settings_of(settings)
        blocks = blocks_of(files, column=column, errors=errors)
        counts = count_in_shards(
            blocks, chosen, engine=engine, address=address, memory=memory, work=work
        )
        return cls.from_counts(counts, files, chosen)

    @classmethod
    def from_counts(
        cls, counts: "NgramCounts", sources: Iterable[str], settings: Settings
    ) -> Self:
        """Make a dictionary of counts.

        counts (NgramCounts): The counts of `count_blocks` or `count_in_shards`.
        sources (Iterable[str]): What the provenance calls the text.
        settings (Settings): How it was counted.
        RETURNS (NgramDictionary): The dictionary.
        """
        ngrams, words, n_tokens = counts
        names = tuple(sources)
        if not n_tokens:
            raise CorpusError(Errors.NO_TEXT.format(sources=", ".join(names)))
        if not ngrams:
            threshold = {"min_count": settings.min_count, "n_tokens": n_tokens}
            warnings.warn(Warnings.NO_NGRAMS.format(**threshold), stacklevel=3)
        origin = Provenance.of_count(names, settings, n_tokens)
        return cls._trusted(ngrams, words, settings.attr, origin)
