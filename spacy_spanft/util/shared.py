"""Values that many tasks have, and that take long to unpickle."""

import pickle
from functools import lru_cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """A value that a process unpickles once, for however many tasks.

    value (Any): The value.
    """

    def __init__(self, value: T) -> None:
        """Keep a value.

        value (Any): Something that can be pickled, and that no task changes.
        """
        self.value = value
        self._data: bytes | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it, the value once."""
        if self._data is None:
            self._data = pickle.dumps(self.value)
        return _shared, (self._data,)


@lru_cache(maxsize=1)
def _shared(data: bytes) -> Shared[Any]:
    return Shared(pickle.loads(data))
