"""Poolings of sequences: each makes one vector of every sequence.

They have the type of thinc's own reductions, so that reduce_mean.v1 and the like can
replace them in a config.
"""

from typing import TypeAlias

from thinc.api import Model, chain, concatenate, reduce_first, reduce_last, reduce_max
from thinc.types import Floats2d, Ragged

from ...errors import check_number
from .attention_sum import attention_sum
from .dense import feed_forward
from .finite import finite
from .span_window import span_window
from .with_nonempty import with_nonempty

Pooling: TypeAlias = Model[Ragged, Floats2d]


def cnn_pooling(kernel_size: int = 3) -> Pooling:
    """Convolve each sequence, and take the maximum over it.

    kernel_size (int): The number of rows of a window.
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
    reduce_first raises an error.

    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_sequences, width).
    """
    return with_nonempty(reduce_first())


def boundary_attention_reducer(hidden_size: int = 128) -> Pooling:
    """Build `spacy-spanft.BoundaryAttentionReducer.v1`: [s; e; g] of each span.

    s and e come from its first and its last token, each through its own feed-forward
    network, and g is the attention over all of its tokens (Jurafsky and Martin, Speech
    and Language Processing, chapter 11).

    hidden_size (int): The width of s, of e, and of the attention's hidden layer.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_spans, 2 hidden_size +
        width).
    """
    check_number("hidden_size", hidden_size, lambda size: size >= 1, "1 or more")
    start: Pooling = chain(reduce_first(), feed_forward(hidden_size))
    end: Pooling = chain(reduce_last(), feed_forward(hidden_size))
    parts = start, end, attention_sum(hidden_size)
    pooling: Pooling = finite(with_nonempty(concatenate(*parts)))
    return pooling
