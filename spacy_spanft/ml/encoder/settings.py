"""What a config says of an encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...errors import Errors, SpanftError, check_number
from ..pairs import check_separator

Precision = Literal["single", "bf16", "fp16"]
# Where a layer keeps them, among its attrs.
SETTINGS = "settings"
TextRow = Literal["auto", "first", "last", "mean"]


@dataclass(frozen=True)
class EncoderSettings:
    """The settings of an encoder; see `spacy-spanft.HuggingFaceEncoder.v1`.

    They are not saved with the weights, but in the config alone: what
    `spacy.load(..., config=...)` says counts. Only the name says nothing then.
    """

    name: str
    window: int | None = None
    stride: int | None = None
    separator: str | None = None
    text_row: TextRow = "auto"
    precision: Precision = "single"
    max_batch_rows: int = 8192
    tokenizer_config: Mapping[str, Any] = field(default_factory=dict)
    transformer_config: Mapping[str, Any] = field(default_factory=dict)
    gradient_checkpointing: bool = False
    compile: bool = False
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        if self.separator is not None:
            check_separator(self.separator)
        for name in ("dtype", "torch_dtype"):
            if name in self.transformer_config:
                raise SpanftError(Errors.DTYPE_IN_CONFIG.format(name=name))
        expected = "a number of 1 or more"
        check_number(
            "max_batch_rows", self.max_batch_rows, lambda rows: rows >= 1, expected
        )
