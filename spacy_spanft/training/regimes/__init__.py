"""How a pipeline is trained: what is frozen, and who learns at which rate."""

from ...ml.optimizers.groups import bind

__all__ = ["bind"]
