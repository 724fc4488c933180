"""The span boundary objective: what is in a span, from what stands around it."""

from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from .collator import IGNORED

Rows: TypeAlias = tuple[Tensor, Tensor]


class Boundaries(NamedTuple):
    """The masked tokens that have a boundary on both sides.

    rows (Tensor): Which sequence each is in, (n_tokens,).
    places (Tensor): Where it stands in it, (n_tokens,).
    left (Tensor): Where the last token before its span stands, (n_tokens,).
    right (Tensor): Where the first token after its span stands, (n_tokens,).
    """

    rows: Tensor
    places: Tensor
    left: Tensor
    right: Tensor


def find_boundaries(labels: Tensor, attention_mask: Tensor) -> Boundaries:
    """Return what stands around each span of tokens that are predicted.

    labels (Tensor): What is predicted, IGNORED elsewhere, (n_sequences, n_tokens).
    attention_mask (Tensor): 0 where there is only padding, alike.
    RETURNS (Boundaries): The tokens of all spans that do not touch an end.
    """
    is_masked = labels != IGNORED
    n_tokens = labels.shape[1]
    places = torch.arange(n_tokens, device=labels.device).expand_as(labels)
    left = places.masked_fill(is_masked, -1).cummax(1).values
    after = places.masked_fill(is_masked, n_tokens).flip(1)
    right = after.cummin(1).values.flip(1)
    is_text = attention_mask.bool()
    is_there = right < n_tokens
    is_there &= is_text.gather(1, right.clamp(max=n_tokens - 1))
    rows, at = torch.nonzero(is_masked & (left >= 0) & is_there, as_tuple=True)
    return Boundaries(rows, at, left[rows, at], right[rows, at])


class SpanBoundaryHead(nn.Module):
    """Makes of both boundaries and a position what the output embeddings take."""

    def __init__(
        self,
        width: int,
        output_width: int,
        n_positions: int = 20,
        position_width: int = 200,
        epsilon: float = 1e-12,
        spread: float = 0.02,
    ) -> None:
        """Make a head.

        width (int): The width of the encoder.
        output_width (int): The width of the output embeddings.
        n_positions (int): The largest number of predicted tokens of a span.
        position_width (int): The width of the position embeddings.
        epsilon (float): What the layer norms add to the variance.
        spread (float): The standard deviation of the first weights.
        """
        super().__init__()
        self.spread = spread
        self.positions = nn.Embedding(n_positions, position_width)
        self.layers = nn.Sequential(
            nn.Linear(2 * width + position_width, width),
            nn.GELU(),
            nn.LayerNorm(width, eps=epsilon),
            nn.Linear(width, output_width),
            nn.GELU(),
            nn.LayerNorm(output_width, eps=epsilon),
        )
        self.initialize()

    def initialize(self) -> None:
        """Draw the first weights."""
        for layer in self.modules():
            if isinstance(layer, nn.Linear | nn.Embedding):
                nn.init.normal_(layer.weight, std=self.spread)
            if isinstance(layer, nn.LayerNorm):
                nn.init.ones_(layer.weight)
            if isinstance(layer, nn.LayerNorm | nn.Linear):
                nn.init.zeros_(layer.bias)

    def forward(self, hidden: Tensor, at: Boundaries) -> tuple[Tensor, Tensor]:
        """Look at the boundaries alone.

        hidden (Tensor): The encoder's output, (n_sequences, n_tokens, width).
        at (Boundaries): The tokens to predict.
        RETURNS (tuple[Tensor, Tensor]): A vector for each token that there is a
            position for, (n_found, output_width), and which they are, (n_tokens,).
        """
        position = at.places - at.left - 1
        has_one = position < self.positions.num_embeddings
        rows, left, right = at.rows[has_one], at.left[has_one], at.right[has_one]
        vectors = [hidden[rows, left], hidden[rows, right]]
        vectors.append(self.positions(position[has_one]))
        predicted: Tensor = self.layers(torch.cat(vectors, dim=-1))
        return predicted, has_one


def output_embeddings(masked_lm: Any) -> tuple[Tensor, Tensor | None]:
    """Return the matrix and the bias that turn vectors into scores of words.

    masked_lm (PreTrainedModel): A masked language model, which shares them.
    """
    output = masked_lm.get_output_embeddings()
    # A few models name another layer so.
    if output is None or output.weight.shape[0] != masked_lm.config.vocab_size:
        output = masked_lm.get_input_embeddings()
    return output.weight, getattr(output, "bias", None)
