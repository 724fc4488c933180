"""Pre-training with span masking and a span boundary objective, as SpanBERT has it."""

from typing import TYPE_CHECKING, Any

from .settings import Settings

if TYPE_CHECKING:
    from .collator import SpanMaskingCollator
    from .run import Pretrained, pretrain

__all__ = ["Pretrained", "Settings", "SpanMaskingCollator", "pretrain"]

_MODULES = {"Pretrained": "run", "pretrain": "run", "SpanMaskingCollator": "collator"}


def __getattr__(name: str) -> Any:
    # The command line needs the settings alone, with each of spaCy's commands.
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
