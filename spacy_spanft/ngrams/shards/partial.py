"""Shards that are counted anywhere, each to one file, and joined to one dictionary.

A file keeps what its shard cannot decide alone: every word with its count, however
rare, and the text as the numbers of its words. Tokenizing, which takes most of the
time, is done; which words and n-grams are frequent is found out when files are joined.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ...errors import DictionaryError, shown
from ...util.files import write_whole
from ..counting.settings import Settings
from . import numbering
from .build import Build, Where, engine_of, facts_of
from .sizes import sizes_of
from .source import Part, Text
from .store import Arrays, Store, array_of, facts_in, save_arrays
from .work import open_work

FORMAT_VERSION = 1
# What must be the same in all files that are joined.
_ALIKE = ("tokenizer", "attr")


def write_partial(
    path: str | Path, text: Text, settings: Settings, where: Where
) -> int:
    """Count the words of a shard, and write what a dictionary is joined from.

    path (Union[str, Path]): The file to write.
    text (Text): The text of the shard.
    settings (Settings): How to count; max_n and min_count come with the joining.
    where (Where): Where to count.
    RETURNS (int): How many tokens the shard has.
    """
    # No word is too rare here: others may have more of it.
    settings = replace(settings, min_count=1)
    sizes = sizes_of(where.memory, settings.n_process, text.n_bytes)
    with open_work(where.work) as store:
        build = Build(store, settings, sizes.n_parts)
        with engine_of(settings, where) as engine:
            is_far = where.engine == "ray"
            build.encode(engine, text, sizes.size, settings.n_process, is_far)
            build.find_words(engine)
        n_tokens = numbering.read_vocabulary(store).n_tokens
        header = {
            "format_version": FORMAT_VERSION,
            "sources": [str(name) for name in text.names],
            "part": text.part,
            "text": _facts_of(text),
            "n_tokens": n_tokens,
            "n_shards": len(build.shards),
            **{name: facts_of(settings)[name] for name in _ALIKE},
        }
        arrays = partial(_arrays_of, store, header)
        write_whole(path, lambda file: save_arrays(file, arrays()))
    return n_tokens


def _facts_of(text: Text) -> dict[str, Any]:
    """Say which text it is, so that parts of another are told from it."""
    if text.identity is None:
        return {}
    files, column, errors = text.identity
    sizes = [n_bytes for _, n_bytes, _ in files]
    return {"bytes": sizes, "column": column, "errors": errors}


def _arrays_of(
    store: Store, header: dict[str, Any]
) -> Iterator[tuple[str, NDArray[Any]]]:
    yield "header", array_of(header)
    with store.read("vocabulary") as arrays:
        for name in ("text", "counts", "firsts"):
            yield name, arrays[name]
    for shard in range(header["n_shards"]):
        with store.read(f"stream-{shard}") as arrays:
            yield f"stream-{shard}", arrays["words"]


class Header(NamedTuple):
    """What a file says of itself.

    path (str): The file.
    sources (list[str]): What the text is called.
    part (Optional[Part]): Which part of the text it is; None for all.
    n_tokens (int): How many tokens there are.
    n_shards (int): In how many pieces the text is.
    alike (dict[str, Any]): What must be the same in files that are joined.
    text (dict[str, Any]): What must be the same in parts of one text.
    """

    path: str
    sources: list[str]
    part: Part | None
    n_tokens: int
    n_shards: int
    alike: dict[str, Any]
    text: dict[str, Any]


def read_header(path: str | Path) -> Header:
    """Read what a file says of itself.

    path (Union[str, Path]): The file.
    RETURNS (Header): What it says.
    """
    with Arrays(Path(path)) as arrays:
        facts = facts_in(arrays, "header")
        try:
            if facts["format_version"] != FORMAT_VERSION:
                raise arrays.error(f"its format is {shown(facts['format_version'])}")
            part = facts["part"] and Part(*map(int, facts["part"]))
            sources = [str(name) for name in facts["sources"]]
            numbers = [int(facts[name]) for name in ("n_tokens", "n_shards")]
            alike = {name: str(facts[name]) for name in _ALIKE}
            text = dict(facts["text"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, DictionaryError):
                raise
            raise arrays.error(f"its header has a wrong {error}") from error
        return Header(str(path), sources, part, numbers[0], numbers[1], alike, text)
