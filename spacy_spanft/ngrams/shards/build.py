"""From text to counts in shards: which steps there are, and who goes on from where."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from ...util.engines import Engine, EngineName, open_engine
from ...util.shared import Shared
from ..counting.levels import Level
from ..counting.settings import Settings, Tokenizer
from ..counting.tokens import get_tokenizer, ways_to_cut, works_by_chunk
from ..counting.vocabulary import Vocabulary
from ..text.blocks import LineSample
from . import numbering, pairs, words
from .encode import Share, encode_blocks, encode_unit
from .sizes import sizes_of
from .source import Text
from .store import Store
from .work import check_plan, open_work


class Where(NamedTuple):
    """Where shards are counted.

    engine (str): "local" or "ray".
    address (Optional[str]): Where the Ray cluster is.
    memory (Optional[int]): How many bytes all processes may take; None for any.
    work (Optional[Union[str, Path]]): A folder to go on from; None for none.
    """

    engine: EngineName = "local"
    address: str | None = None
    memory: int | None = None
    work: str | Path | None = None


class Counted(NamedTuple):
    """What was counted. The levels are read as they are asked for.

    vocabulary (Vocabulary): The words.
    levels (Iterator[Level]): Their n-grams, n = 2 and up.
    sample (LineSample): Some lines of the text.
    """

    vocabulary: Vocabulary
    levels: Iterator[Level]
    sample: LineSample


@contextmanager
def count_text(text: Text, settings: Settings, where: Where) -> Iterator[Counted]:
    """Count text in shards. What the build needs is removed when the block ends.

    text (Text): The text.
    settings (Settings): How to count; n_process is how many workers there are.
    where (Where): Where to count.
    YIELDS (Counted): The counts, the same as those of one build.
    """
    sizes = sizes_of(where.memory, settings.n_process, text.n_bytes)
    with open_work(where.work) as store:
        plan = {"text": text.identity, **facts_of(settings), **sizes._asdict()}
        plan = check_plan(store, {**plan, "n_readers": settings.n_process})
        build = Build(store, settings, plan["n_parts"])
        with engine_of(settings, where) as engine:
            is_far = where.engine == "ray"
            build.encode(engine, text, plan["size"], plan["n_readers"], is_far)
            build.find_words(engine)
            build.count_levels(engine)
        yield read_counted(store, settings.max_n)


def engine_of(settings: Settings, where: Where) -> Engine:
    """Begin where tasks are run.

    settings (Settings): How to count; n_process is how many workers there are.
    where (Where): Where to count.
    RETURNS (Engine): The engine, to be used in a `with` block.
    """
    # Nobody knows what a tokenizer imports that is not of spaCy's own kind.
    tokenizer = get_tokenizer(settings.tokenizer)
    is_light = tokenizer is None or works_by_chunk(tokenizer)
    how: dict[str, Any] = {"address": where.address, "is_light": is_light}
    return open_engine(where.engine, settings.n_process, **how)


def facts_of(settings: Settings) -> dict[str, Any]:
    """Say what the counts depend on.

    settings (Settings): How to count.
    RETURNS (dict[str, Any]): What JSON can say about it.
    """
    name = settings.tokenizer
    if not isinstance(name, str):
        name = f"{type(name).__module__}.{type(name).__qualname__}"
    numbers = {"max_n": settings.max_n, "min_count": settings.min_count}
    return {"tokenizer": name, "attr": settings.attr, **numbers}


def read_counted(store: Store, max_n: int) -> Counted:
    """Read what was counted.

    store (Store): Where it is.
    max_n (int): The largest n.
    RETURNS (Counted): The counts.
    """
    vocabulary = numbering.read_vocabulary(store)
    n_words = len(vocabulary.names)

    def levels() -> Iterator[Level]:
        grams = np.arange(1, n_words + 1, dtype=np.uint32)[:, None]
        for n in takewhile(lambda n: store.has(f"level-{n}"), range(2, max_n + 1)):
            level = pairs.read_level(store, n, grams)
            if len(level.counts):
                yield level
            grams = level.words

    sample = LineSample()
    if store.has("sample"):
        with store.read("sample") as arrays:
            sample.lines = arrays.text("lines").split(b"\n")[:-1]
    return Counted(vocabulary, levels(), sample)


class Build:
    """The steps of a build, each of which is left out if it was done before."""

    def __init__(self, store: Store, settings: Settings, n_parts: int) -> None:
        """Prepare.

        store (Store): The folder.
        settings (Settings): How to count.
        n_parts (int): In how many parts words and counts go.
        """
        self.store = store
        self._settings = settings
        self.n_parts = n_parts
        self.shards: list[str] = []
        self._tokenizer: Tokenizer | None = None

    def encode(
        self, engine: Engine, text: Text, size: int, n_readers: int, is_far: bool
    ) -> None:
        """Turn text into shards of chunks.

        engine (Engine): Where to do it.
        text (Text): The text.
        size (int): How many bytes a shard has.
        n_readers (int): How many workers read the text, where all could.
        is_far (bool): Whether workers may have another current folder.
        """
        self._tokenizer, by_line = ways_to_cut(self._settings.tokenizer)
        how = (by_line, size, self.n_parts)
        names = ["text-000000"]
        if text.blocks is not None:
            if not self.is_done("encode"):
                encode_blocks(self.store, names[0], text.blocks, *how)
        else:
            units = text.units(size)
            names = [f"text-{i:06}" for i in range(len(units))]
            if is_far:
                units = [replace(u, path=os.path.abspath(u.path)) for u in units]
            n_shares = max(1, n_readers // max(1, len(units)))
            shares = [Share(i, n_shares) for i in range(n_shares)]
            tasks = [
                (share.name_of(name), (self.store, name, unit, *how, share))
                for name, unit in zip(names, units, strict=True)
                for share in shares
            ]
            self.run(engine, "encode", encode_unit, tasks, "Reading")
        if not self.is_done("encode"):
            self._keep_sample(names)
        self.finish("encode", lambda: self._names_of(names))
        self.shards = self.store.read_facts("done-encode")

    def _keep_sample(self, units: Sequence[str]) -> None:
        lines = [np.zeros(0, np.uint8)]
        for name in units:
            with self.store.read(name) as arrays:
                lines.append(arrays["sample"])
        self.store.write("sample", {"lines": np.concatenate(lines)})

    def _names_of(self, units: Sequence[str]) -> list[str]:
        return [
            f"{name}-{i:06}"
            for name in units
            for i in range(self.store.read_facts(name))
        ]

    def find_words(self, engine: Engine) -> None:
        """Turn the chunks of all shards into the ids of frequent words.

        engine (Engine): Where to do it.
        """
        store, n_parts, shards = self.store, self.n_parts, self.shards
        tokenizer = Shared(self._tokenizer)
        how = (shards, tokenizer, self._settings.attr, n_parts)
        tasks: list[tuple[str, tuple[Any, ...]]]
        tasks = [(f"tokens-{i}", (store, i, *how)) for i in range(n_parts)]
        self.run(engine, "tokens", words.tokenize_part, tasks, "Tokenizing")
        self.finish("tokens")
        self.rank_words(engine, [f"tokens-{i}" for i in range(n_parts)])
        tasks = [(f"numbered-{i}", (store, i, len(shards))) for i in range(n_parts)]
        self.run(engine, "numbered", numbering.number_part, tasks, "Numbering words")
        self.finish("numbered", remove=("tokens-",))
        is_tokenized = self._tokenizer is None
        tasks = [
            (f"stream-{i}", (store, i, name, n_parts, is_tokenized))
            for i, name in enumerate(shards)
        ]
        self.run(engine, "stream", numbering.number_shard, tasks, "Numbering words")
        self.finish("stream", remove=("text-", "numbered-"))

    def rank_words(
        self, engine: Engine, tables: Sequence[str], n_tokens: int | None = None
    ) -> None:
        """Sum the words of tables, and rank the frequent ones.

        engine (Engine): Where to do it.
        tables (Sequence[str]): The names of the tables.
        n_tokens (Optional[int]): How many tokens there are; None if all are in tables.
        """
        store, n_parts = self.store, self.n_parts
        how = (tables, self._settings.min_count)
        tasks = [(f"words-{i}", (store, i, *how)) for i in range(n_parts)]
        self.run(engine, "words", words.sum_words, tasks, "Counting words")
        if not self.is_done("words"):
            words.rank_words(store, n_parts, n_tokens)
        self.finish("words", remove=("words-",))

    def count_levels(self, engine: Engine) -> None:
        """Count the n-grams, from n = 2 up until there are none.

        engine (Engine): Where to do it.
        """
        store, n_parts, n_shards = self.store, self.n_parts, len(self.shards)
        before = "stream"
        for n in range(2, self._settings.max_n + 1):
            n_grams = pairs.n_of_level(store, n - 1)
            if not n_grams:
                return
            shown = f"Counting n = {n}"
            tasks: list[tuple[str, tuple[Any, ...]]]
            tasks = [
                (f"pairs-{n}-{i}", (store, n, i, n_grams, n_parts))
                for i in range(n_shards)
            ]
            self.run(engine, f"pairs-{n}", pairs.count_shard, tasks, shown)
            self.finish(f"pairs-{n}", remove=(f"{before}-",))
            before = f"pairs-{n}"
            how = (n_shards, self._settings.min_count)
            tasks = [(f"sums-{n}-{i}", (store, n, i, *how)) for i in range(n_parts)]
            self.run(engine, f"level-{n}", pairs.sum_pairs, tasks, shown)
            if not self.is_done(f"level-{n}"):
                pairs.join_parts(store, n, n_parts)
            self.finish(f"level-{n}", remove=(f"sums-{n}-",))

    def is_done(self, step: str) -> bool:
        """Say whether a step is done.

        step (str): The step.
        RETURNS (bool): Whether nothing is left of it.
        """
        return self.store.has(f"done-{step}")

    def run(
        self,
        engine: Engine,
        step: str,
        function: Callable[..., None],
        tasks: Iterable[tuple[str, tuple[Any, ...]]],
        shown: str,
    ) -> None:
        """Run the tasks of a step whose files are not there yet.

        engine (Engine): Where to run them.
        step (str): The step.
        function (Callable): What they run.
        tasks (Iterable[tuple]): The file that each writes, and its arguments.
        shown (str): What the progress bar says.
        """
        if self.is_done(step):
            return
        left = [args for name, args in tasks if not self.store.has(name)]
        hidden = None if self._settings.progress else True
        results = engine.run(function, left)
        for _ in tqdm(results, shown, len(left), leave=False, disable=hidden):
            pass

    def finish(
        self,
        step: str,
        facts: Callable[[], Any] = lambda: None,
        remove: Iterable[str] = (),
    ) -> None:
        """Note that a step is done, and remove what no other step needs.

        step (str): The step.
        facts (Callable): Gives what to note down.
        remove (Iterable[str]): What the names of files begin with that are removed.
        """
        if not self.is_done(step):
            self.store.write_facts(f"done-{step}", facts())
        for start in remove:
            self.store.remove(start)
