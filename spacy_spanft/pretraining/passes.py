"""Sequences with keys, by which each pass over the text masks them in another way."""

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

if TYPE_CHECKING:
    from datasets import Dataset


class Passes:
    """A data set whose rows have a key: the number of the pass, and that of the row."""

    def __init__(self, rows: "Dataset", n_pass: int) -> None:
        """Make a data set of sequences; pass 0 is that of text that is held out."""
        self._rows = rows.with_format("numpy")
        self.n_pass = n_pass

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return {**self._rows[int(i)], "key": (self.n_pass, int(i))}


class StartPass(TrainerCallback):
    """Counts the passes, also when the Trainer goes on in the middle of one."""

    def __init__(self, rows: Passes) -> None:
        """Make a callback for a data set."""
        self._rows = rows

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Change the keys."""
        self._rows.n_pass = 1 + int(state.epoch or 0)
