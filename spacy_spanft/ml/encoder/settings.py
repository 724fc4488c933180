"""The settings of an encoder, as a config has them, and the windows they make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ...errors import SpanftError, check_number
from ..pairs import check_separator
from .safety import check_settings

if TYPE_CHECKING:
    from .loading import Encoder

Precision = Literal["single", "bf16", "fp16"]
TextRow = Literal["auto", "first", "last", "mean"]
# The name of the settings among the attrs of a layer.
SETTINGS = "settings"
# Tokenizers without a limit have one of 10 to the power of 30.
_NO_LIMIT = 10**9
# Families whose positions begin after that of padding.
_OFFSET_POSITIONS = ("roberta", "camembert", "xlm-roberta", "longformer", "mpnet")
# By default, windows share a quarter, and are 512 long where nothing limits them.
_SHARED = 4
_UNLIMITED = 512


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
        check_number("max_batch_rows", self.max_batch_rows, lambda n: n >= 1, expected)


def window_of(encoder: "Encoder", settings: EncoderSettings) -> tuple[int, int]:
    """Return the length of windows, and the number of wordpieces that two share.

    The settings are checked. Special wordpieces count in the first number alone.
    """
    longest = _longest_window(encoder)
    least = encoder.tokenizer.num_special_tokens_to_add() + 1
    size = longest or _UNLIMITED if settings.window is None else settings.window
    most = f"to {longest}, what {settings.name!r} takes" if longest else "or more"
    expected = f"null, or a number from {least} {most}"
    check_number("window", size, lambda n: least <= n <= (longest or n), expected)
    inside = size - least + 1
    stride = settings.stride
    if stride is None:
        stride = max(1, inside - inside // _SHARED)
    expected = f"null, or a number from 1 to {inside}, what a window has of a text"
    check_number("stride", stride, lambda n: 1 <= n <= inside, expected)
    return size, inside - stride


def _longest_window(encoder: "Encoder") -> int | None:
    """Return the most wordpieces that an encoder takes at once; None for no limit."""
    config, limits = encoder.config, []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        is_offset = config.model_type in _OFFSET_POSITIONS
        limits.append(positions - (config.pad_token_id + 1 if is_offset else 0))
    if encoder.tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(encoder.tokenizer.model_max_length))
    return min(limits, default=None)
