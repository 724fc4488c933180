"""What can be set about pre-training."""

# ruff: noqa: RUF009 (_setting gives a field, of which each instance has its own value)

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import Errors, PretrainingError, check_setting
from ..ngrams.text.blocks import ErrorHandling
from .masking import MAX_SHARE, Masking

_FOREVER = float("inf")
# Whatever may be changed when training goes on: how long, how often, where.
_FREE = {"epochs", "steps", "save_every", "eval_every", "log_every", "workers"}


def _setting(default: Any, meaning: str, flag: str | None = None) -> Any:
    """Declare a setting, from which the option of the command is made, too."""
    return field(default=default, metadata={"help": meaning, "flag": flag})


@dataclass(frozen=True)
class Settings:
    """The settings of one training: each is an option of `spanft pretrain`, too."""

    masking: Masking = _setting("spans", "What is masked at once")
    sbo: bool = _setting(True, "Predict spans from their boundaries, too")
    share: float = _setting(0.15, "The share of the tokens that is masked")
    dictionary: Path | None = _setting(
        None, "The n-grams to mask; the default English ones if there is none", "-d"
    )
    lang: str = _setting("en", "The language whose tokenizer finds the n-grams", "-l")
    max_length: int | None = _setting(
        None,
        "How many tokens a sequence has at most; else as many as the encoder takes, "
        "up to 512",
    )
    pack: bool = _setting(
        True, "Fill sequences with the lines that follow, up to the next empty one"
    )
    errors: ErrorHandling = _setting("strict", "How to handle invalid UTF-8")
    from_scratch: bool = _setting(
        False, "Begin with fresh weights, not with the model's"
    )
    layers: int | None = _setting(None, "From scratch: how many layers")
    width: int | None = _setting(None, "From scratch: how wide they are")
    vocab_size: int | None = _setting(
        None, "From scratch: make a vocabulary of this size of the text"
    )
    epochs: float = _setting(1.0, "How often to pass over the text")
    steps: int | None = _setting(None, "How often to change the weights, instead")
    batch_size: int = _setting(
        4, "How many sequences each GPU takes at once; more need more memory", "-b"
    )
    accumulate: int = _setting(8, "How many batches make one step")
    learning_rate: float = _setting(1e-4, "The highest learning rate")
    warmup: float = _setting(0.1, "The share of the steps in which it rises")
    weight_decay: float = _setting(0.01, "How fast weights shrink")
    precision: Literal["fp32", "fp16", "bf16"] = _setting(
        "fp32", "fp16 and bf16 are mixed precision"
    )
    eval_share: float = _setting(0.01, "The share of the text that is held out")
    eval_every: int = _setting(500, "After how many steps to measure on it")
    save_every: int = _setting(500, "After how many steps to save")
    log_every: int = _setting(50, "After how many steps to write the loss down")
    workers: int = _setting(0, "How many processes prepare batches")
    seed: int = _setting(0, "Another seed, other weights, order and masks")

    def __post_init__(self) -> None:
        self._one_of("masking", "tokens", "words", "spans", "ngrams")
        self._one_of("precision", "fp32", "fp16", "bf16")
        self._one_of("errors", "strict", "replace")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None:
                is_sane = isinstance(value, int) and value >= 1
                self._check(name, is_sane, "a whole number of 1 or more")
        self._check("share", 0 < self.share <= MAX_SHARE, f"over 0, up to {MAX_SHARE}")
        self._check("eval_share", 0 <= self.eval_share <= 0.5, "from 0 to 0.5")
        self._check("warmup", 0 <= self.warmup <= 1, "from 0 to 1")
        self._check("epochs", 0 < self.epochs < _FOREVER, "more than 0, and a number")
        self._check("learning_rate", self.learning_rate > 0, "more than 0")
        self._check("weight_decay", self.weight_decay >= 0, "0 or more")
        self._check("workers", self.workers >= 0, "0 or more")
        shape = ("layers", "width", "vocab_size")
        given = [name for name in shape if getattr(self, name) is not None]
        if given and not self.from_scratch:
            message = Errors.ONLY_FROM_SCRATCH.format(names=", ".join(given))
            raise PretrainingError(message)
        if self.dictionary is not None and self.masking != "ngrams":
            message = Errors.DICTIONARY_UNUSED.format(masking=self.masking)
            raise PretrainingError(message)

    def _check(self, name: str, is_sane: bool, expected: str) -> None:
        check_setting(name, getattr(self, name), is_sane, expected, PretrainingError)

    def _one_of(self, name: str, *values: str) -> None:
        expected = "one of " + ", ".join(map(repr, values))
        self._check(name, getattr(self, name) in values, expected)

    def to_json(self) -> dict[str, Any]:
        """Turn them into what JSON can say.

        RETURNS (dict[str, Any]): The settings.
        """
        return {
            name: str(value) if isinstance(value, Path) else value
            for name, value in asdict(self).items()
        }

    def go_on(self) -> "Settings":
        """Find the settings that make no other model of one that is there.

        RETURNS (Settings): The settings, but for what is only from scratch.
        """
        return replace(
            self, from_scratch=False, layers=None, width=None, vocab_size=None
        )

    def fixed(self) -> dict[str, Any]:
        """Find the settings that must stay as they are when training goes on.

        RETURNS (dict[str, Any]): These settings.
        """
        return {k: v for k, v in self.to_json().items() if k not in _FREE}


_COUNTS = (
    *("max_length", "layers", "width", "vocab_size", "steps", "batch_size"),
    *("accumulate", "eval_every", "save_every", "log_every"),
)
