"""A hash table in arrays: millions of look-ups without a loop over them."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Values = NDArray[np.uint32]

_MIX1 = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xC2B2AE3D27D4EB4F)


class HashTable:
    """Whole numbers to whole numbers; what is not in it is 0.

    Open addressing with linear probing, filled to a quarter at most, so that nearly
    every look-up ends at the first slot. Key 0 marks an empty slot.
    """

    def __init__(self, keys: Keys, values: Values) -> None:
        """Fill the table.

        keys (Keys): The keys, all different, none of them 0, (n_keys,).
        values (Values): Their values, none of them 0, (n_keys,).
        """
        self._bits = max(4, (4 * len(keys)).bit_length())
        self._keys = np.zeros(1 << self._bits, np.uint64)
        self._values = np.zeros(1 << self._bits, np.uint32)
        slots = self._slots(keys)
        while len(keys):
            is_free = self._keys[slots] == 0
            # Of several that want one slot the last one gets it; all look again.
            self._keys[slots[is_free]] = keys[is_free]
            is_in = self._keys[slots] == keys
            self._values[slots[is_in]] = values[is_in]
            keys, values = keys[~is_in], values[~is_in]
            slots = self._next(slots[~is_in])

    def get(self, keys: Keys) -> Values:
        """Look up many keys at once.

        keys (Keys): The keys, (n,).
        RETURNS (Values): Their values, 0 for a key that is not there, (n,).
        """
        slots = self._slots(keys)
        stored = self._keys.take(slots)
        values = self._values.take(slots)
        is_hit = stored == keys
        values[~is_hit] = 0
        open_ = np.flatnonzero(~is_hit & (stored != 0))
        slots = slots[open_]
        while len(open_):
            slots = self._next(slots)
            stored = self._keys.take(slots)
            is_hit = stored == keys[open_]
            values[open_[is_hit]] = self._values[slots[is_hit]]
            goes_on = ~is_hit & (stored != 0)
            open_, slots = open_[goes_on], slots[goes_on]
        return values

    def _slots(self, keys: Keys) -> NDArray[np.int64]:
        hashed = keys * _MIX1
        hashed ^= hashed >> np.uint64(29)
        hashed *= _MIX2
        hashed >>= np.uint64(64 - self._bits)
        return hashed.view(np.int64)

    def _next(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        return (slots + 1) & ((1 << self._bits) - 1)
