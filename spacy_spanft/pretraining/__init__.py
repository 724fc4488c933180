"""Pre-training with span masking and a span boundary objective, as SpanBERT has it."""

from .collator import SpanMaskingCollator
from .pretrainer import Pretrained, Settings, pretrain

__all__ = ["Pretrained", "Settings", "SpanMaskingCollator", "pretrain"]
