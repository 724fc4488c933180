"""The shim of an encoder in a thinc model: computes, trains, saves and loads it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from inspect import signature
from typing import Any

import numpy as np
import torch
from thinc.api import (
    Optimizer,
    PyTorchGradScaler,
    PyTorchShim,
    get_torch_default_device,
)

from ...errors import SpanftError
from ..alignment import Ints
from ..optimizers.fused_adam import can_fuse, fused_step
from .loading import Encoder, encoder_from_bytes, encoder_to_bytes
from .settings import EncoderSettings, window_of
from .wordpieces import Window

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class EncoderShim(PyTorchShim):
    """An encoder and its tokenizer, empty until they are loaded."""

    def __init__(self, settings: EncoderSettings) -> None:
        """Make it empty."""
        # What was trained on a GPU is loaded without one, too.
        scales = settings.precision == "fp16" and torch.cuda.is_available()
        super().__init__(None, grad_scaler=PyTorchGradScaler(scales))
        self.settings = settings
        self.has_warned = False  # that a text among pairs is single
        self._encoder: Encoder | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether there is an encoder."""
        return self._encoder is not None

    @property
    def encoder(self) -> Encoder:
        """Return the encoder."""
        if self._encoder is None:
            raise SpanftError(
                "The encoder has not been loaded yet. Call nlp.initialize() first, as "
                "`spacy train` does, or load a trained pipeline."
            )
        return self._encoder

    def take(self, encoder: Encoder) -> None:
        """Hold an encoder, on the device of this process."""
        window_of(encoder, self.settings)  # raises for wrong settings
        module = encoder.module.to(get_torch_default_device())
        if self.settings.gradient_checkpointing:
            # Its name in transformers 5.
            name = "activation_checkpointing_enable"
            enable = getattr(module, name, module.gradient_checkpointing_enable)
            # Wordpieces are numbers, and have no gradient for the other kind to follow.
            enable({"use_reentrant": False})
        if self.settings.compile:
            module.compile(dynamic=True)
        self._encoder = encoder
        self._model = module

    def encode(
        self, windows: Sequence[Window], groups: Sequence[Ints], is_train: bool
    ) -> "tuple[torch.Tensor, Callable[[torch.Tensor], None]]":
        """Compute the vectors of wordpieces, one micro-batch after the other.

        windows (Sequence[Window]): The windows to encode.
        groups (Sequence[Ints]): The windows of each micro-batch.
        is_train (bool): Whether dropout is on, and gradients are wanted.
        RETURNS (tuple[Tensor, Callable]): The vectors without padding, in the order of
            the windows, and the function that takes their gradient.
        """
        if is_train and self.settings.precision == "fp16" and self.device.type == "cpu":
            raise SpanftError(
                'precision = "fp16" trains on GPUs alone. On a CPU, take "bf16" or '
                '"single".'
            )
        lengths = np.array([len(window) for window in windows], np.int64)
        starts = np.cumsum(lengths) - lengths
        module = self.encoder.module.train(is_train)
        parts: list[tuple[Any, Any, Any]] = []
        vectors: Any = None
        with self._computing(is_train):
            for group in groups:
                is_real, inputs = self._inputs([windows[number] for number in group])
                output = module(**inputs)[0]
                ranges = [starts[n] + np.arange(lengths[n]) for n in group]
                rows = torch.from_numpy(np.concatenate(ranges)).to(output.device)
                if vectors is None:
                    shape = (int(lengths.sum()), output.shape[-1])
                    vectors = torch.empty(shape, device=output.device)
                vectors[rows] = output.detach()[is_real].float()
                if is_train:
                    parts.append((output, is_real, rows))

        def backprop(d_vectors: Any) -> None:
            scaled = self._grad_scaler.scale(d_vectors)
            if self._has_few_rows:
                _make_room(module)
            while parts:  # frees each graph after its backward pass
                output, is_real, rows = parts.pop()
                d_output = torch.zeros_like(output)
                d_output[is_real] = scaled[rows].to(output.dtype)
                torch.autograd.backward(output, d_output)
            gradients = [p.grad for p in module.parameters() if p.grad is not None]
            self._grad_scaler.unscale(gradients)

        return vectors, backprop

    def finish_update(self, optimizer: Optimizer) -> None:
        """Update the weights, all at once where the optimizer allows it."""
        module = self.encoder.module
        if not can_fuse(optimizer, module):
            super().finish_update(optimizer)
            return
        if not self._grad_scaler.found_inf:
            fused_step(optimizer, self.id, module.named_parameters())
        for parameter in module.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        self._grad_scaler.update()

    def to_bytes(self) -> bytes:
        """Return the encoder as bytes."""
        return encoder_to_bytes(self.encoder)

    def from_bytes(self, bytes_data: bytes) -> "EncoderShim":
        """Load an encoder from bytes, which may come from anybody."""
        self.take(encoder_from_bytes(bytes_data, self.settings))
        return self

    def _inputs(self, windows: Sequence[Window]) -> tuple[Any, dict[str, Any]]:
        """Pad windows, on the right whatever the tokenizer does."""
        module, tokenizer, _ = self.encoder
        shape = len(windows), max(map(len, windows))
        ids = np.full(shape, tokenizer.pad_token_id or 0, np.int64)
        types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window.ids
            mask[row, : len(window)] = 1
            types[row, : len(window.type_ids)] = window.type_ids
        arrays = {"input_ids": ids, "attention_mask": mask}
        # Some tokenizers return more than their encoder takes.
        if windows[0].type_ids and "token_type_ids" in _inputs_of(module):
            arrays["token_type_ids"] = types
        device = self.device
        inputs = {name: torch.from_numpy(arrays[name]).to(device) for name in arrays}
        return inputs["attention_mask"].bool(), inputs

    @contextmanager
    def _computing(self, is_train: bool) -> Iterator[None]:
        """Set PyTorch up for a batch. Weights are converted once for all of it."""
        dtype = _DTYPES.get(self.settings.precision)
        if self.device.type == "cpu" and dtype == torch.float16:
            dtype = None
        autocast = torch.autocast(self.device.type, dtype, enabled=dtype is not None)
        with torch.set_grad_enabled(is_train), autocast, ExitStack() as stack:
            if is_train and self._has_few_rows:
                stack.enter_context(_few_rows(self.encoder.module))
            yield

    @property
    def _has_few_rows(self) -> bool:
        # A GPU fills a matrix with zeros fast; compiled modules need a dense one.
        return self.device.type == "cpu" and not self.settings.compile


def _inputs_of(module: Any) -> Any:
    return signature(module.forward).parameters


@contextmanager
def _few_rows(module: torch.nn.Module) -> Iterator[None]:
    """Let gradients of embeddings hold only the rows that are looked up here.

    PyTorch makes a matrix of the whole vocabulary for each micro-batch, nearly all of
    it zeros, and adds it to the one before: on a CPU a tenth of a step.
    """
    embeddings = _embeddings(module)
    for embedding in embeddings:
        embedding.sparse = True
    try:
        yield
    finally:
        for embedding in embeddings:
            embedding.sparse = False


def _make_room(module: torch.nn.Module) -> None:
    """Allocate the gradient of all rows of embeddings, to which those few are added.

    Without it the first gradient would stay sparse, which no optimizer here takes.
    """
    for embedding in _embeddings(module):
        if embedding.weight.requires_grad and embedding.weight.grad is None:
            embedding.weight.grad = torch.zeros_like(embedding.weight)


def _embeddings(module: torch.nn.Module) -> list[torch.nn.Embedding]:
    """Return the embeddings whose gradients are dense, and need not be."""
    return [
        part
        for part in module.modules()
        if isinstance(part, torch.nn.Embedding)
        and not (part.sparse or part.scale_grad_by_freq)
    ]
