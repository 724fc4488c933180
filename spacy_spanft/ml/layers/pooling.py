"""Poolings of sequences: each makes one vector of every sequence.

They have the type of thinc's own reductions, so that reduce_mean.v1 and the like can
take their place in a config.
"""

from typing import TypeAlias

from thinc.api import Model, chain, reduce_first, reduce_max
from thinc.types import Floats2d, Ragged

from .attention_sum import attention_sum
from .span_window import span_window
from .with_nonempty import with_nonempty

Pooling: TypeAlias = Model[Ragged, Floats2d]


def cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence, and take the maximum over it.

    kernel_size (int): How many rows a window has.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    window = span_window(kernel_size)
    pooling = with_nonempty(chain(window, reduce_max()))
    pooling.set_ref("window", window)
    return pooling


def attention_pooling() -> Pooling:
    """Average each sequence with weights softmax(w · tanh(W t + b)) (Lin et al., 2017).

    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return with_nonempty(attention_sum())


def max_pooling() -> Pooling:
    """Take the maximum over each sequence.

    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return with_nonempty(reduce_max())


def first_pooling() -> Pooling:
    """Take the first row of each sequence, as BERT does for the tokens of NER.

    Tokens without wordpieces, such as a line break, become zeros; thinc's own
    reduce_first stops at them.

    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return with_nonempty(reduce_first())
