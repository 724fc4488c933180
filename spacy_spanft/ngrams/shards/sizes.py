"""How large shards are, so that they fit into the memory that there is."""

from typing import NamedTuple

from ...errors import DictionaryError, Errors

_MB = 1 << 20
# What processes take that have not read anything yet: the one that starts the others
# has spaCy and PyTorch, workers that tokenize as well.
_BASE = 400 * _MB
_WORKER = 120 * _MB
# How much a worker needs for each byte of a shard.
_MEMORY_PER_BYTE = 14
_SMALLEST, _LARGEST = _MB, 16 * _MB
_MOST_PARTS = 256
# So that all have something to do, and little is lost with one.
_TASKS_PER_WORKER = 4


class Sizes(NamedTuple):
    """How text is cut.

    size (int): How many bytes a shard has.
    n_parts (int): In how many parts words and counts go.
    """

    size: int
    n_parts: int


def sizes_of(memory: int | None, n_workers: int, n_bytes: int) -> Sizes:
    """Say how large shards are.

    memory (Optional[int]): How many bytes all processes may take; None for any.
    n_workers (int): How many workers there are.
    n_bytes (int): About how many bytes of text there are.
    RETURNS (Sizes): The sizes.
    """
    size = _LARGEST
    if memory is not None:
        left = (memory - _BASE) // n_workers - _WORKER
        size = max(_SMALLEST, min(_LARGEST, left // _MEMORY_PER_BYTE))
    # Enough for all workers, also if there is little text.
    size = max(_SMALLEST, min(size, -(-n_bytes // n_workers)))
    n_parts = max(_TASKS_PER_WORKER * n_workers, -(-n_bytes // size))
    n_parts = min(_MOST_PARTS, n_parts)
    return Sizes(size, n_parts)


def parse_memory(value: str) -> int:
    """Read a size such as 2GB.

    value (str): A number and a unit.
    RETURNS (int): How many bytes it is.
    """
    units = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
    text = value.strip().upper().replace("IB", "B")
    for unit in ("KB", "MB", "GB", "TB", "B"):
        if text.endswith(unit):
            try:
                number = float(text.removesuffix(unit))
            except ValueError:
                break
            if 0 < number < 1 << 40:
                return int(number * units[unit])
    raise DictionaryError(Errors.BAD_SIZE.format(value=value))
