"""Some lines of a corpus, to see what a dictionary finds in them."""

import random
from collections.abc import Iterable, Iterator

_LINES_PER_BLOCK = 100
_LONGEST_LINE = 100_000


class LineSample:
    """Keeps some lines of a corpus that streams by, as many of each block."""

    def __init__(self) -> None:
        """Make an empty sample."""
        self.lines: list[bytes] = []
        self._random = random.Random(0)

    def watch(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Pass blocks on, and keep some lines of each.

        blocks (Iterable[bytes]): Text in whole lines.
        YIELDS (bytes): The same blocks.
        """
        for block in blocks:
            lines = [line for line in block.split(b"\n") if line.strip()]
            # At random, so that no rhythm of the text decides which ones.
            kept = self._random.sample(lines, min(len(lines), _LINES_PER_BLOCK))
            self.lines.extend(line for line in kept if len(line) < _LONGEST_LINE)
            yield block
