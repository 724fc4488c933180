"""Everything private of other packages that we touch, each with what it relies on.

An upgrade that breaks one of these breaks a test of this file, which says what it was.
Nothing heavy is imported before it is needed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def torch_module(shim: Any) -> Any:
    """Return the module of a thinc PyTorchShim, which has no public name for it."""
    return shim._model


def found_inf(shim: Any) -> bool:
    """Whether a gradient of a PyTorchShim was too large for half precision."""
    return bool(shim._grad_scaler.found_inf)


def set_found_inf(shim: Any, value: bool) -> None:
    """Set that: the gradient may have come from another process."""
    shim._grad_scaler._found_inf = value


@contextmanager
def wrapped_train_batches(wrap: Callable[[Any], Any]) -> Iterator[None]:
    """Let spaCy's loop train on other batches: it finds them by this name."""
    from spacy.training import loop

    original = loop.create_train_batches
    loop.create_train_batches = lambda *args: wrap(original(*args))
    try:
        yield
    finally:
        loop.create_train_batches = original


def forward_of(model: Any) -> Callable[..., Any]:
    """Return the function that a thinc model calls: it may be set in __init__ alone."""
    function: Callable[..., Any] = model._func
    return function


def set_forward(model: Any, forward: Callable[..., Any]) -> None:
    """Let a thinc model call another function."""
    model._func = forward


def has_heard(listener: Any) -> bool:
    """Whether a TransformerListener has been given a batch by its transformer."""
    return listener._batch_id is not None


def has_heard_curated(listener: Any) -> bool:
    """Whether a listener of spacy-curated-transformers has been given a batch."""
    return listener.attrs["_state"].outputs is not None


def spacy_cli() -> Any:
    """Return what spaCy's commands share.

    We use its app, parse_config_overrides, import_code and show_validation_error.
    """
    from spacy.cli import _util

    return _util
