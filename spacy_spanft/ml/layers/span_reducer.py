"""A vector of each span from its two ends and a summary of it, for `spancat`."""

from thinc.api import chain, concatenate, reduce_first, reduce_last

from ...errors import SpanftError, shown
from .attention_sum import attention_sum
from .feed_forward import feed_forward
from .pooling import Pooling
from .with_nonempty import with_nonempty


def boundary_attention_reducer(hidden_size: int = 128) -> Pooling:
    """Build `spacy-spanft.BoundaryAttentionReducer.v1`: [s; e; g] of each span.

    s and e come from its first and its last token, each through a feed-forward network
    of its own, and g is the attention over all of its tokens (Jurafsky and Martin,
    Speech and Language Processing, chapter 11).

    hidden_size (int): The width of s, of e, and of what the attention looks at.
    RETURNS (Model[Ragged, Floats2d]): (n_rows, width) to (n_spans, 2 hidden_size +
        width).
    """
    if hidden_size < 1:
        raise SpanftError(
            f"{'hidden_size'} is {shown(hidden_size)}, but must be {'1 or more'}."
        )
    start: Pooling = chain(reduce_first(), feed_forward(hidden_size))
    end: Pooling = chain(reduce_last(), feed_forward(hidden_size))
    return with_nonempty(concatenate(start, end, attention_sum(hidden_size)))
