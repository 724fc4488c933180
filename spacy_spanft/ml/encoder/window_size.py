"""The number of wordpieces that an encoder reads at once."""

from ...errors import check_number
from .loading import Encoder
from .settings import EncoderSettings

# Tokenizers without a limit have one of 10 to the power of 30.
_NO_LIMIT = 10**9
# Families whose positions begin after that of padding.
_OFFSET_POSITIONS = ("roberta", "camembert", "xlm-roberta", "longformer", "mpnet")
# By default, windows share a quarter, and are 512 long where nothing limits them.
_SHARED = 4
_UNLIMITED = 512


def window_of(encoder: Encoder, settings: EncoderSettings) -> tuple[int, int]:
    """Return the length of windows, and the number of wordpieces that two share.

    encoder (Encoder): The encoder.
    settings (EncoderSettings): The settings of its config, which are checked.
    RETURNS (tuple[int, int]): Both, special wordpieces counted in the first alone.
    """
    longest = longest_window(encoder)
    least = encoder.tokenizer.num_special_tokens_to_add() + 1
    size = longest or _UNLIMITED if settings.window is None else settings.window
    most = f"to {longest}, what {settings.name!r} takes" if longest else "or more"
    check_number(
        "window",
        size,
        lambda size: least <= size <= (longest or size),
        f"null, or a number from {least} {most}",
    )
    inside = size - least + 1
    stride = settings.stride
    if stride is None:
        stride = max(1, inside - inside // _SHARED)
    expected = f"null, or a number from 1 to {inside}, what a window has of a text"
    check_number("stride", stride, lambda stride: 1 <= stride <= inside, expected)
    return size, inside - stride


def longest_window(encoder: Encoder) -> int | None:
    """Return the most wordpieces that an encoder takes at once.

    RETURNS (Optional[int]): The number; None if there is no limit.
    """
    config, limits = encoder.config, []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        is_offset = config.model_type in _OFFSET_POSITIONS
        limits.append(positions - (config.pad_token_id + 1 if is_offset else 0))
    if encoder.tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(encoder.tokenizer.model_max_length))
    return min(limits, default=None)
