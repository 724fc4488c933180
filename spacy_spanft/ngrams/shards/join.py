"""Joins the files of shards that were counted apart to the counts of all."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DictionaryError, Errors, shown
from ...util.engines import Engine
from ...util.files import check_source
from ..counting.levels import GAP
from ..counting.settings import Settings
from . import numbering, words
from .build import Build, Counted, Where, engine_of, read_counted
from .partial import Header, read_header
from .sizes import sizes_of
from .source import Part
from .store import Arrays, Store
from .work import check_plan, open_work


def settings_of_join(
    paths: Sequence[str | Path],
    *,
    max_n: int,
    min_count: int,
    n_process: int = 1,
    quiet: bool = True,
) -> Settings:
    """Say how the n-grams of shards are counted.

    paths (Sequence[Union[str, Path]]): The files, which say how words were counted.
    max_n (int): The largest n.
    min_count (int): How often an n-gram must occur to be kept.
    n_process (int): How many processes count.
    quiet (bool): Whether there are no progress bars.
    RETURNS (Settings): The settings.
    """
    if not paths:
        raise DictionaryError(Errors.NO_PATHS)
    check_source(paths[0])
    numbers = {"max_n": max_n, "min_count": min_count, "n_process": n_process}
    alike = read_header(paths[0]).alike
    return Settings(**{**alike, **numbers, "progress": not quiet})


def in_order(headers: Sequence[Header]) -> list[Header]:
    """Check that files can be joined, and bring the parts of a text into their order.

    headers (Sequence[Header]): What the files say of themselves.
    RETURNS (list[Header]): The same; files that are not parts stay as they are.
    """
    first = headers[0]
    for one in headers:
        expected = _alike(first)
        for name, value in _alike(one).items():
            if value != expected.get(name):
                text = {"path": one.path, "first": first.path, "name": name}
                text.update(found=shown(value), expected=shown(expected.get(name)))
                raise DictionaryError(Errors.SHARDS_DIFFER.format(**text))
    if first.part is None:
        _check_once(headers)
        return list(headers)
    there = [one.part.number for one in headers if one.part is not None]
    wanted = range(1, first.part.n_parts + 1)
    missing = sorted(set(wanted) - set(there))
    twice = sorted({index for index in there if there.count(index) > 1})
    if missing or twice:
        text = {"n_parts": str(first.part.n_parts), "path": first.path}
        text.update(missing=_listed(missing), twice=_listed(twice))
        raise DictionaryError(Errors.PARTS_MISSING.format(**text))
    return sorted(headers, key=lambda one: one.part or Part(0, 0))


def _alike(header: Header) -> dict[str, Any]:
    """Say what must be the same in files that are joined."""
    if header.part is None:
        return {**header.alike, "parts": None}
    parts = {"parts": header.part.n_parts, "files": header.sources}
    return {**header.alike, **parts, **header.text}


def _check_once(headers: Sequence[Header]) -> None:
    """Raise for a file that is given twice: its text would count twice."""
    seen: set[str] = set()
    for one in headers:
        path = os.path.realpath(one.path)
        if path in seen:
            raise DictionaryError(Errors.SHARD_TWICE.format(path=one.path))
        seen.add(path)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


@contextmanager
def join_partials(
    paths: Sequence[str | Path], settings: Settings, where: Where
) -> Iterator[tuple[Counted, list[str]]]:
    """Count the n-grams of shards whose words are counted.

    paths (Sequence[Union[str, Path]]): Files of `write_partial`, in the order of the
        text, unless they are numbered parts.
    settings (Settings): How to count; see `settings_of_join`.
    where (Where): Where to count.
    YIELDS (tuple[Counted, list[str]]): The counts, and what the text is called.
    """
    for path in paths:
        check_source(path)
    headers = in_order([read_header(path) for path in paths])
    files = [Path(one.path).absolute() for one in headers]
    stats = [file.stat() for file in files]
    sizes = sizes_of(
        where.memory, settings.n_process, sum(file.st_size for file in stats)
    )
    identity = [
        [str(file), stat.st_size, stat.st_mtime_ns]
        for file, stat in zip(files, stats, strict=True)
    ]
    numbers = {"max_n": settings.max_n, "min_count": settings.min_count}
    with open_work(where.work) as store:
        plan = {"text": identity, **numbers, **sizes._asdict()}
        plan = check_plan(store, plan)
        build = Build(store, settings, plan["n_parts"])
        with engine_of(settings, where) as engine:
            _join_words(build, engine, files, headers)
            build.count_levels(engine)
        sources = [name for one in headers for name in one.sources]
        if headers[0].part is not None:
            sources = headers[0].sources
        yield read_counted(store, settings.max_n), sources


def _join_words(
    build: Build, engine: Engine, files: Sequence[Path], headers: Sequence[Header]
) -> None:
    """Turn the words of files into the ids of frequent words."""
    store, n_parts = build.store, build.n_parts
    tasks: list[tuple[str, tuple[Any, ...]]]
    tasks = [(f"table-{i}", (store, i, file, n_parts)) for i, file in enumerate(files)]
    build.run(engine, "table", load_words, tasks, "Reading")
    build.finish("table")
    n_tokens = sum(one.n_tokens for one in headers)
    build.rank_words(engine, [f"table-{i}" for i in range(len(files))], n_tokens)
    firsts = np.cumsum([0, *(one.n_shards for one in headers)]).tolist()
    tasks = [
        (f"loaded-{i}", (store, i, file, firsts[i], headers[i].n_shards))
        for i, file in enumerate(files)
    ]
    build.run(engine, "stream", load_streams, tasks, "Numbering words")
    build.finish("stream", remove=("table-", "loaded-"))
    build.shards = [f"stream-{i}" for i in range(firsts[-1])]


def load_words(store: Store, number: int, path: Path, n_parts: int) -> None:
    """Read the words of a file, as a table of them: table-NUMBER.

    store (Store): Where to write.
    number (int): The number of the file.
    path (Path): The file.
    n_parts (int): In how many parts the words go.
    """
    with Arrays(path) as arrays:
        text, counts, firsts = arrays.text("text"), arrays["counts"], arrays["firsts"]
        n_words = text.count(b"\n")
        is_right = counts.dtype == np.int64 and firsts.dtype == np.uint32
        if not is_right or not len(counts) == len(firsts) == n_words:
            raise arrays.error("its words and their counts are not of one number")
        try:
            text.decode("utf8")
        except UnicodeDecodeError as error:
            raise arrays.error("its words are not UTF-8") from error
        if n_words and counts.min() < 1:
            raise arrays.error("a word in it has no count")
    places = firsts.astype(np.uint64) | np.uint64(number) << words.SHARD_BITS
    nth = np.zeros(n_words, np.uint32)
    table = words.WordTable(text, counts, places, nth)
    store.write(f"table-{number}", dict(table.arrays(n_parts)))


def load_streams(
    store: Store, number: int, path: Path, first: int, n_shards: int
) -> None:
    """Write the text of a file in the ids of frequent words: stream-SHARD.

    store (Store): The words, and where to write.
    number (int): The number of the file.
    path (Path): The file.
    first (int): The number of its first shard.
    n_shards (int): How many it has.
    """
    with store.read(f"table-{number}") as table:
        ids = numbering.ids_of_names(store, table.text("names"))
    new_ids = np.concatenate([np.array([GAP], np.uint32), ids])
    with Arrays(path) as arrays:
        for shard in range(n_shards):
            stream = arrays[f"stream-{shard}"]
            is_right = stream.dtype == np.uint32 and stream.ndim == 1
            if not is_right or (len(stream) and stream.max() >= len(new_ids)):
                raise arrays.error(f"its stream-{shard} holds what is not a word")
            store.write(f"stream-{first + shard}", {"words": new_ids[stream]})
    store.write_facts(f"loaded-{number}", n_shards)
