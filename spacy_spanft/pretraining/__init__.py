"""Pre-training with span masking and a span boundary objective, as SpanBERT has it."""

from .collator import SpanMaskingCollator
from .run import Pretrained, pretrain
from .settings import Settings

__all__ = ["Pretrained", "Settings", "SpanMaskingCollator", "pretrain"]
