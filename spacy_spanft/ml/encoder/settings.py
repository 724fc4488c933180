"""The settings of an encoder, as a config has them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...errors import SpanftError, check_number
from ..pairs import check_separator
from .safety import check_settings

Precision = Literal["single", "bf16", "fp16"]
# The name of the settings among the attrs of a layer.
SETTINGS = "settings"
TextRow = Literal["auto", "first", "last", "mean"]


@dataclass(frozen=True)
class EncoderSettings:
    """The settings of an encoder; see `spacy-spanft.HuggingFaceEncoder.v1`.

    They are saved in the config, not with the weights, so that
    `spacy.load(..., config=...)` can change them. A saved encoder ignores its name.
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

    def __post_init__(self) -> None:
        if self.separator is not None:
            check_separator(self.separator)
        check_settings("tokenizer_config", self.tokenizer_config)
        check_settings("transformer_config", self.transformer_config)
        for name in ("dtype", "torch_dtype"):
            if name in self.transformer_config:
                raise SpanftError(
                    f"transformer_config has {name!r}, but fine-tuning needs weights "
                    'in single precision. To compute in another, set precision: "bf16" '
                    'or "fp16".'
                )
        expected = "a number of 1 or more"
        check_number(
            "max_batch_rows", self.max_batch_rows, lambda rows: rows >= 1, expected
        )
