"""What can be set about pre-training."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import Errors, PretrainingError, check_setting
from ..ngrams.text.blocks import ErrorHandling
from .masking import MAX_SHARE, Masking

_FOREVER = float("inf")
# Whatever may be changed when training goes on: how long, how often, where.
_FREE = {"epochs", "steps", "save_every", "eval_every", "log_every", "workers"}


@dataclass(frozen=True)
class Settings:
    """The settings of one training.

    masking (str): What is masked at once: "tokens", "words", "spans" or "ngrams".
    sbo (bool): Learn from the boundaries of spans, too.
    share (float): The share of the tokens that is masked.
    dictionary (Optional[Path]): The n-grams for masking = "ngrams"; None for the
        default English ones.
    lang (str): The language whose tokenizer finds the n-grams.
    max_length (Optional[int]): How many tokens a sequence has at most; None for as
        many as the encoder takes, 512 at most.
    pack (bool): Fill sequences with the lines that follow, up to the next empty one.
    errors (str): What to do about bytes that are no text.
    from_scratch (bool): Begin with fresh weights, not with the model's.
    layers (Optional[int]): From scratch: how many layers, if not the model's number.
    width (Optional[int]): From scratch: how wide, if not as the model.
    vocab_size (Optional[int]): From scratch: make a vocabulary of this size of the
        text, of the same kind as the model's.
    epochs (float): How often to pass over the text.
    steps (Optional[int]): How often to change the weights, instead.
    batch_size (int): How many sequences each GPU takes at once.
    accumulate (int): How many such batches make one step.
    learning_rate (float): The highest learning rate.
    warmup (float): The share of the steps in which it rises; then it falls to 0.
    weight_decay (float): How fast weights shrink.
    precision (str): "fp32", or mixed with "fp16" or "bf16".
    eval_share (float): The share of the sequences that is held out.
    eval_every (int): After how many steps to measure on them.
    save_every (int): After how many steps to save.
    log_every (int): After how many steps to write the loss down.
    workers (int): How many processes prepare batches; 0 for none beside this one.
    seed (int): Another seed, other weights, order and masks.
    """

    masking: Masking = "spans"
    sbo: bool = True
    share: float = 0.15
    dictionary: Path | None = None
    lang: str = "en"
    max_length: int | None = None
    pack: bool = True
    errors: ErrorHandling = "strict"
    from_scratch: bool = False
    layers: int | None = None
    width: int | None = None
    vocab_size: int | None = None
    epochs: float = 1.0
    steps: int | None = None
    batch_size: int = 4
    accumulate: int = 8
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    precision: Literal["fp32", "fp16", "bf16"] = "fp32"
    eval_share: float = 0.01
    eval_every: int = 500
    save_every: int = 500
    log_every: int = 50
    workers: int = 0
    seed: int = 0

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
