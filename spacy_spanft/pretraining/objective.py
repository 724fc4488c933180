"""Masked language model and span boundary objective together: the loss of SpanBERT."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .boundary import Boundaries, OutputEmbeddings, SpanBoundaryHead, find_boundaries
from .collator import IGNORED


class SpanObjective(nn.Module):
    """An encoder with its own masked-LM head, and the head for span boundaries."""

    def __init__(self, encoder: Any, boundary: SpanBoundaryHead | None) -> None:
        """Put the parts together.

        encoder (PreTrainedModel): Any model of AutoModelForMaskedLM.
        boundary (Optional[SpanBoundaryHead]): The head; None leaves the objective out.
        """
        super().__init__()
        self.encoder = encoder
        self.boundary = boundary
        self.config = encoder.config  # which the Trainer looks at

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
        num_items_in_batch (Union[Tensor, int, None]): How many tokens are predicted in
            all batches of one step, if they are more than this one.
        inputs (Tensor): What else the encoder takes.
        RETURNS (dict[str, Tensor]): The loss, and of each sequence both sums and the
            number of tokens in them, (n_sequences,).
        """
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        is_masked = labels != IGNORED
        with _masked_only(self.encoder.base_model, is_masked) as kept:
            logits = self.encoder(
                input_ids=input_ids, attention_mask=attention_mask, **inputs
            ).logits
        rows, _ = torch.nonzero(is_masked, as_tuple=True)
        lost = _cross_entropy(logits[0], labels[is_masked])
        sums = {"mlm": (lost, rows)}
        if self.boundary is not None:
            at = find_boundaries(labels, attention_mask)
            sums["sbo"] = self._boundary_loss(self.boundary, kept[0], labels, at)
        n_items = is_masked.sum() if num_items_in_batch is None else num_items_in_batch
        total = torch.stack([lost.sum() for lost, _ in sums.values()]).sum()
        # Up to transformers 4.49 it is an int.
        outputs = {"loss": total / torch.as_tensor(n_items).clamp(min=1).squeeze()}
        for name, (lost, rows) in sums.items():
            empty = torch.zeros(len(labels), 2, device=lost.device)
            counted = torch.stack([lost.float(), torch.ones_like(lost).float()], dim=1)
            outputs[name] = empty.index_add(0, rows, counted).detach()
        return outputs

    def _boundary_loss(
        self, head: SpanBoundaryHead, hidden: Tensor, labels: Tensor, at: Boundaries
    ) -> tuple[Tensor, Tensor]:
        """Compute the loss of each token that has boundaries, and what row it is in."""
        vectors, has_one = head(hidden, at)
        rows, places = at.rows[has_one], at.places[has_one]
        logits = OutputEmbeddings(self.encoder)(vectors)
        return _cross_entropy(logits, labels[rows, places]), rows


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the loss of each token, in no less than 32 bits, (n_tokens,)."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    return functional.cross_entropy(logits, labels, reduction="none")


@contextmanager
def _masked_only(base: Any, is_masked: Tensor) -> Iterator[list[Tensor]]:
    """Let the head that comes after the encoder see the masked tokens alone.

    A head looks at each token by itself, and scores for a whole vocabulary are most
    of the memory of a step, so that they are computed for 15% of the tokens only.

    base (PreTrainedModel): The encoder without its head.
    is_masked (Tensor): Which tokens, (n_sequences, n_tokens).
    YIELDS (list[Tensor]): A list that will hold all that the encoder gave,
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
