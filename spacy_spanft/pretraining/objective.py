"""Masked language model and span boundary objective together: the loss of SpanBERT."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from .boundary import Boundaries, SpanBoundaryHead, find_boundaries, output_embeddings
from .collator import IGNORED


def with_objective(masked_lm: type[Any], sbo: bool) -> type[Any]:
    """Return a class of models like another one, whose forward pass is the objective.

    It loads and saves the weights of that class, with those of the boundary head beside
    them, and Hugging Face's Trainer knows what to do with it.

    masked_lm (type[PreTrainedModel]): A class of AutoModelForMaskedLM.
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

        input_ids (Tensor): The tokens, (n_sequences, n_tokens).
        labels (Tensor): What is predicted, IGNORED elsewhere, alike.
        attention_mask (Optional[Tensor]): 0 where there is only padding, alike.
        num_items_in_batch (Union[Tensor, int, None]): The number of predicted tokens in
            all batches of one step, if they are more than this one.
        inputs (Tensor): What else the encoder takes.
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
        vectors, has_one = self.boundary(hidden, at)
        rows, places = at.rows[has_one], at.places[has_one]
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

    A head looks at each token by itself, and scores for a whole vocabulary are most of
    the memory of a step, so that they are computed for 15% of the tokens only.

    YIELDS (list[Tensor]): A list that will hold all that the encoder returns,
        (n_sequences, n_tokens, width). The head gets (1, n_masked, width).
    """
    forward, own = base.forward, base.__dict__.get("forward")
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
        if own is not None:
            base.forward = own


def measure(prediction: Any) -> dict[str, float]:
    """Compute the mean loss of each objective over sequences, and the perplexity.

    prediction (EvalPrediction): Of each sequence, sums of losses and what they sum.
    """
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
