"""The loss of SpanBERT, as an objective of any masked language model."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from .collator import IGNORED


class Boundaries(NamedTuple):
    """The masked tokens that have a boundary on both sides, all (n_tokens,)."""

    rows: Tensor  # which sequence each is in
    places: Tensor  # where it stands in it
    left: Tensor  # where the last token before its span stands
    right: Tensor  # where the first token after its span stands


def find_boundaries(labels: Tensor, attention_mask: Tensor) -> Boundaries:
    """Return the tokens of all spans that do not touch an end of their sequence."""
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
        """Make a head between the widths of the encoder and the output embeddings.

        n_positions (int): The largest number of predicted tokens of a span.
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
        """Return a vector for each token that has a position, and which these are.

        hidden (Tensor): The encoder's output, (n_sequences, n_tokens, width).
        """
        position = at.places - at.left - 1
        is_near = position < self.positions.num_embeddings
        rows, left, right = at.rows[is_near], at.left[is_near], at.right[is_near]
        vectors = [hidden[rows, left], hidden[rows, right]]
        vectors.append(self.positions(position[is_near]))
        predicted: Tensor = self.layers(torch.cat(vectors, dim=-1))
        return predicted, is_near


def output_embeddings(masked_lm: Any) -> tuple[Tensor, Tensor | None]:
    """Return the matrix and the bias that turn vectors into scores of words."""
    output = masked_lm.get_output_embeddings()
    # A few models name another layer so.
    if output is None or output.weight.shape[0] != masked_lm.config.vocab_size:
        output = masked_lm.get_input_embeddings()
    return output.weight, getattr(output, "bias", None)


def with_objective(masked_lm: type[Any], sbo: bool) -> type[Any]:
    """Return a subclass of a masked language model whose forward pass is the loss.

    sbo (bool): Whether spans are predicted from their boundaries, too.
    """
    attributes = {"__module__": masked_lm.__module__, "has_boundary": sbo}
    return type(masked_lm.__name__, (SpanObjective, masked_lm), attributes)


class SpanObjective:
    """What is mixed into a masked language model."""

    has_boundary: ClassVar[bool]
    boundary: SpanBoundaryHead
    base_model: Any

    def __init__(self, config: Any, *args: Any, **settings: Any) -> None:
        """Make the model, and the head for span boundaries."""
        super().__init__(config, *args, **settings)  # type: ignore[call-arg]
        if self.has_boundary:
            self.boundary = SpanBoundaryHead(
                config.hidden_size,
                output_embeddings(self)[0].shape[1],
                epsilon=getattr(config, "layer_norm_eps", 1e-12),
                spread=getattr(config, "initializer_range", 0.02),
            )

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor,
        attention_mask: Tensor | None = None,
        num_items_in_batch: Tensor | int | None = None,
        **inputs: Tensor,
    ) -> dict[str, Tensor]:
        """Compute the loss: of each masked token L = L_MLM + L_SBO, and their mean.

        num_items_in_batch (Union[Tensor, int, None]): The number of predicted tokens in
            all batches of one step, if they are more than this one.
        RETURNS (dict[str, Tensor]): The loss, and of each sequence both sums and the
            number of tokens in them, (n_sequences, 2).
        """
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        is_masked = labels != IGNORED
        with _masked_only(self.base_model, is_masked) as kept:
            inputs |= {"input_ids": input_ids, "attention_mask": attention_mask}
            logits = super().forward(**inputs).logits  # type: ignore[misc]
        rows, _ = torch.nonzero(is_masked, as_tuple=True)
        lost = _cross_entropy(logits[0], labels[is_masked])
        sums = {"mlm": (lost, rows)}
        if self.has_boundary:
            at = find_boundaries(labels, attention_mask)
            sums["sbo"] = self.boundary_loss(kept[0], labels, at)
        n_items = is_masked.sum() if num_items_in_batch is None else num_items_in_batch
        total = torch.stack([lost.sum() for lost, _ in sums.values()]).sum()
        # Up to transformers 4.49 it is an int.
        outputs = {"loss": total / torch.as_tensor(n_items).clamp(min=1).squeeze()}
        for name, (lost, rows) in sums.items():
            empty = torch.zeros(len(labels), 2, device=lost.device)
            counted = torch.stack([lost.float(), torch.ones_like(lost).float()], dim=1)
            outputs[name] = empty.index_add(0, rows, counted).detach()
        return outputs

    def boundary_loss(
        self, hidden: Tensor, labels: Tensor, at: Boundaries
    ) -> tuple[Tensor, Tensor]:
        """Return the loss of each token that has boundaries, and the row it is in."""
        vectors, is_near = self.boundary(hidden, at)
        rows, places = at.rows[is_near], at.places[is_near]
        logits = functional.linear(vectors, *output_embeddings(self))
        return _cross_entropy(logits, labels[rows, places]), rows


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the loss of each token, in no less than 32 bits, (n_tokens,)."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    return functional.cross_entropy(logits, labels, reduction="none")


@contextmanager
def _masked_only(base: Any, is_masked: Tensor) -> Iterator[list[Tensor]]:
    """Let the head that comes after the encoder see the masked tokens alone.

    Scores for a whole vocabulary are most of the memory of a step, so they are computed
    for 15% of the tokens only. Yields what will hold all rows of the encoder's output.
    """
    forward, override = base.forward, base.__dict__.get("forward")
    kept: list[Tensor] = []

    def keep(*args: Any, **kwargs: Any) -> Any:
        output = forward(*args, **kwargs)
        kept.append(output[0])
        masked = output[0][is_masked][None]
        if isinstance(output, tuple):
            return (masked, *output[1:])
        output.last_hidden_state = masked
        return output

    # Not a hook: those are shared by the copies that several GPUs of one process have.
    base.forward = keep
    try:
        yield kept
    finally:
        del base.forward
        if override is not None:
            base.forward = override


def measure(prediction: Any) -> dict[str, float]:
    """Return the mean loss of each objective over sequences, and the perplexity."""
    parts = prediction.predictions
    parts = parts if isinstance(parts, tuple) else (parts,)
    measured: dict[str, float] = {}
    for name, sums in zip(("mlm", "sbo"), parts, strict=False):
        lost, n_tokens = np.asarray(sums, np.float64).sum(0)
        if not n_tokens:  # of very little text nothing may be masked
            continue
        measured[f"{name}_loss"] = loss = float(lost / n_tokens)
        prefix = "" if name == "mlm" else f"{name}_"
        measured[f"{prefix}perplexity"] = math.exp(min(loss, 700))
    return measured
