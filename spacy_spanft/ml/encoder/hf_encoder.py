"""An encoder of Hugging Face: Docs to the vectors of their wordpieces."""

from collections.abc import Callable, Sequence
from inspect import signature
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import (
    Model,
    Optimizer,
    PyTorchGradScaler,
    PyTorchShim,
    get_torch_default_device,
    torch2xp,
    xp2torch,
)
from thinc.types import Floats2d
from torch.nn import Embedding

from ...errors import SpanftError
from ..alignment import (
    Encoding,
    Ints,
    ranges,
    real_rows,
    rows_of_windows,
)
from ..grouped_adam import can_fuse, fused_step
from ..layers.encoder_rows import DocRows, Encoded, ToRows
from ..pairs import warn_of_single
from ..parameter_groups import renew_id, shim_of
from .loading import (
    SETTINGS,
    Encoder,
    EncoderSettings,
    Precision,
    TextRow,
    encoder_from_bytes,
    encoder_to_bytes,
    load_encoder,
    window_of,
)
from .sharing import replace_listener_cfg
from .wordpieces import Window, cut_windows, encoding_of, micro_batches

NAME = "hf_encoder"
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
# What a micro-batch costs beside its rows, in rows: a GPU is slow to start.
_OVERHEAD = {"cpu": 48.0, "cuda": 4096.0}


def huggingface_encoder(
    name: str,
    window: int | None = None,
    stride: int | None = None,
    separator: str | None = None,
    text_row: TextRow = "auto",
    precision: Precision = "single",
    max_batch_rows: int = 8192,
    tokenizer_config: dict[str, Any] = SimpleFrozenDict(),
    transformer_config: dict[str, Any] = SimpleFrozenDict(),
    gradient_checkpointing: bool = False,
    trust_remote_code: Literal[False] = False,
) -> ToRows:
    """Build `spacy-spanft.HuggingFaceEncoder.v1`, for the component `spanft_encoder`.

    It encodes a Doc as its tokenizer does: a long one in windows that overlap, so that
    nothing is cut off, and a pair of texts as `tokenizer(first, second)`. A batch is
    cut into micro-batches of similar length, which saves padding and changes nothing
    else.

    name (str): The encoder's name on the hub, or its folder. Of an encoder-decoder, the
        encoder is taken.
    window (Optional[int]): The number of wordpieces read at once, [CLS] and [SEP]
        included; None takes as many as the encoder can.
    stride (Optional[int]): The number of wordpieces from the beginning of a window to
        that of the next; None takes three quarters of a window.
    separator (Optional[str]): The separator between the texts of a pair; None if there
        are no pairs.
    text_row (Literal["auto", "first", "last", "mean"]): The row that stands for a text:
        "auto" takes [CLS], wherever it is, the last one of a decoder (GPT-2), and the
        mean where neither is there (T5).
    precision (Literal["single", "bf16", "fp16"]): The precision to compute in. A CPU
        knows no fp16, and many no bf16: these compute in single.
    max_batch_rows (int): The most wordpieces of a micro-batch, padding included. Fewer
        need less memory; a single window may have more.
    tokenizer_config (dict[str, Any]): Settings of the tokenizer.
    transformer_config (dict[str, Any]): Settings of the encoder, such as
        {"attn_implementation": "eager"}.
    gradient_checkpointing (bool): Whether the backward pass recomputes what it needs
        instead of keeping it: slower, with less memory.
    trust_remote_code (bool): Must be false: code that comes with an encoder never runs,
        as a pipeline trained with it could not be loaded.
    """
    settings = EncoderSettings(
        name=name,
        window=window,
        stride=stride,
        separator=separator,
        text_row=text_row,
        precision=precision,
        max_batch_rows=max_batch_rows,
        tokenizer_config=dict(tokenizer_config),
        transformer_config=dict(transformer_config),
        gradient_checkpointing=gradient_checkpointing,
    )
    return Model(
        NAME,
        forward,
        init=init,
        shims=[EncoderShim(settings)],
        dims={"nO": None},
        attrs={SETTINGS: settings, "replace_listener_cfg": replace_listener_cfg},
    )


class EncoderShim(PyTorchShim):
    """An encoder and its tokenizer, empty until they are loaded."""

    def __init__(self, settings: EncoderSettings) -> None:
        """Make it empty."""
        # What was trained on a GPU is loaded without one, too.
        is_on_cuda = get_torch_default_device().type == "cuda"
        scales = settings.precision == "fp16" and is_on_cuda
        super().__init__(None, grad_scaler=PyTorchGradScaler(scales))
        self.settings = settings
        self.has_warned = False  # that a text among pairs is single
        self.loaded: Encoder | None = None
        self._sparse: list[Embedding] = []

    @property
    def encoder(self) -> Encoder:
        """Return the encoder, or raise where none is loaded."""
        if self.loaded is None:
            raise SpanftError(
                "The encoder has not been loaded yet. Call nlp.initialize() first, as "
                "`spacy train` does, or load a trained pipeline."
            )
        return self.loaded

    def copy(self) -> "EncoderShim":
        """Copy the encoder, with an id of its own."""
        copied: EncoderShim = super().copy()
        renew_id(copied)
        return copied

    def take(self, encoder: Encoder) -> None:
        """Hold an encoder, on the device of this process."""
        self.window = window_of(encoder, self.settings)
        module = encoder.module.to(get_torch_default_device())
        # Some tokenizers return types that their encoder does not take.
        self._takes_types = "token_type_ids" in signature(module.forward).parameters
        if self.settings.gradient_checkpointing:
            # Its name in transformers 5.
            name = "activation_checkpointing_enable"
            enable = getattr(module, name, module.gradient_checkpointing_enable)
            # Wordpieces are numbers, and have no gradient for the other kind to follow.
            enable({"use_reentrant": False})
        self.loaded = encoder
        self._model = module
        # PyTorch makes a matrix of the whole vocabulary for each micro-batch, nearly
        # all of it zeros: on a CPU a tenth of a step. A GPU does it fast.
        if self.device.type == "cpu":
            parts = module.modules()
            self._sparse = [part for part in parts if isinstance(part, Embedding)]
        for embedding in self._sparse:
            embedding.sparse = True

    def encode(
        self,
        windows: Sequence[Window],
        lengths: Ints,
        groups: list[Ints],
        is_train: bool,
    ) -> tuple[torch.Tensor, Callable[[torch.Tensor], None]]:
        """Compute the vectors of wordpieces, one micro-batch after the other.

        windows (Sequence[Window]): The windows to encode.
        lengths (Ints): The number of wordpieces of each, (n_windows,).
        groups (list[Ints]): The windows of each micro-batch.
        RETURNS (tuple[Tensor, Callable]): The vectors without padding, in the order of
            the windows, and the function that takes their gradient.
        """
        module, device = self.encoder.module, self.device
        if module.training != is_train:
            module.train(is_train)
        starts = np.cumsum(lengths) - lengths
        parts: list[tuple[Any, Any, Any]] = []
        shape = int(lengths.sum()), module.config.hidden_size
        vectors = torch.empty(shape, device=device)
        # Weights are converted once for the whole batch.
        with torch.set_grad_enabled(is_train), self._autocast(device.type):
            for group in groups:
                batch = list(map(windows.__getitem__, group))
                is_real, inputs = self._padded(batch, lengths[group], device)
                output = module(**inputs)[0]
                rows = torch.from_numpy(ranges(starts[group], lengths[group]))
                rows = rows.to(device)
                vectors[rows] = output.detach()[is_real].float()
                if is_train:
                    parts.append((output, is_real, rows))

        def backprop(d_vectors: Any) -> None:
            if not module.training:  # it predicted since; checkpoints run again
                module.train()
            scaled = self._grad_scaler.scale(d_vectors)
            for weight in (embedding.weight for embedding in self._sparse):
                # The first gradient would stay sparse, which no optimizer here takes.
                if weight.requires_grad and weight.grad is None:
                    weight.grad = torch.zeros_like(weight)
            while parts:  # frees each graph after its backward pass
                output, is_real, rows = parts.pop()
                d_output = torch.zeros_like(output)
                d_output[is_real] = scaled[rows].to(output.dtype)
                torch.autograd.backward(output, d_output)

        return vectors, backprop

    def finish_update(self, optimizer: Optimizer) -> None:
        """Update the weights, all at once where the optimizer allows it."""
        module = self.encoder.module
        # Once for all parts of a batch, whose gradients are added up.
        gradients = (p.grad for p in module.parameters() if p.grad is not None)
        self._grad_scaler.unscale(gradients)
        if not can_fuse(optimizer, module):
            super().finish_update(optimizer)
            return
        if not self._grad_scaler.found_inf:
            fused_step(optimizer, self.id, module.named_parameters())
        module.zero_grad(set_to_none=False)
        self._grad_scaler.update()

    def to_bytes(self) -> bytes:
        """Return the encoder as bytes."""
        return encoder_to_bytes(self.encoder)

    def from_bytes(self, bytes_data: bytes) -> "EncoderShim":
        """Load an encoder from bytes, which may come from anybody."""
        self.take(encoder_from_bytes(bytes_data, self.settings))
        return self

    def _padded(
        self, windows: Sequence[Window], lengths: Ints, device: torch.device
    ) -> tuple[Any, dict[str, Any]]:
        """Pad windows, on the right whatever the tokenizer does."""
        shape = len(windows), int(lengths.max())
        ids = np.full(shape, self.encoder.tokenizer.pad_token_id or 0, np.int64)
        types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, (window, size) in enumerate(zip(windows, lengths, strict=True)):
            ids[row, :size], mask[row, :size] = window.ids, 1
            types[row, : len(window.type_ids)] = window.type_ids
        arrays = {"input_ids": ids, "attention_mask": mask}
        if windows[0].type_ids and self._takes_types:
            arrays["token_type_ids"] = types
        inputs = {k: torch.from_numpy(x).to(device) for k, x in arrays.items()}
        return inputs["attention_mask"].bool(), inputs

    def _autocast(self, device: str) -> Any:
        dtype = _DTYPES.get(self.settings.precision)
        if device == "cpu" and not (dtype == torch.bfloat16 and cpu_has_bf16()):
            dtype = None
        return torch.autocast(device, dtype, enabled=dtype is not None)


def cpu_has_bf16() -> bool:
    """Whether the CPU computes in bf16; others need 50 times as long as in single."""
    capabilities: Any = getattr(torch.cpu, "get_capabilities", dict)  # PyTorch 2.8
    return bool(capabilities().get("avx512_bf16"))


def init(model: ToRows, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Load the encoder, if there is none yet."""
    shim = shim_of(model)
    if shim.loaded is None:
        shim.take(load_encoder(shim.settings))
    model.set_dim("nO", shim.encoder.module.config.hidden_size)


def is_trained(model: ToRows) -> bool:
    """Whether anything of the encoder learns in the coming update."""
    return any(p.requires_grad for p in shim_of(model).encoder.module.parameters())


def forward(model: ToRows, docs: list[Doc], is_train: bool) -> Encoded:
    """Apply the layer. No row is computed for padding beyond a micro-batch's own."""
    shim: Any = model.shims[0]
    ops, is_train = model.ops, is_train and is_trained(model)
    encoder, settings = shim.encoder, shim.settings
    separator = settings.separator
    if separator is not None and not is_train:
        warn_of_single(shim, docs, separator)
    size, overlap = shim.window
    windows = cut_windows(docs, encoder.tokenizer, size, overlap, separator)
    encodings = list(map(encoding_of, docs, windows))
    sizes = [encoding.width * len(encoding.windows) for encoding in encodings]
    starts = [0, *np.cumsum(sizes, dtype=np.int64).tolist()]
    cls = _rows_of_texts(encoder, settings.text_row, windows, encodings)
    cut = list(chain.from_iterable(windows))
    if not cut:
        nothing = ops.alloc2f(0, model.get_dim("nO"))
        return DocRows(docs, nothing, starts, encodings, cls), lambda d_rows: docs
    lengths = np.array([len(window.ids) for window in cut], np.int64)
    overhead = _OVERHEAD.get(shim.device.type, _OVERHEAD["cuda"])
    groups = micro_batches(lengths, overhead, settings.max_batch_rows)
    vectors, backprop_encoder = shim.encode(cut, lengths, groups, is_train)
    flat: Any = torch2xp(vectors, ops=ops)
    # Windows of one Doc are all as wide as the widest: rows of none are between them.
    rows: Any = None
    if starts[-1] > len(vectors):
        offsets = zip(starts, encodings, strict=False)
        rows = np.concatenate([start + rows_of_windows(e) for start, e in offsets])
        padded = ops.alloc2f(starts[-1], flat.shape[1])
        padded[rows] = flat
        flat = padded

    def backprop(d_rows: Floats2d) -> list[Doc]:
        d_vectors: Any = d_rows if rows is None else d_rows[rows]
        backprop_encoder(xp2torch(ops.xp.ascontiguousarray(d_vectors)))
        return docs

    return DocRows(docs, flat, starts, encodings, cls), backprop


def _rows_of_texts(
    encoder: Encoder,
    text_row: TextRow,
    windows: list[list[Window]],
    encodings: list[Encoding],
) -> list[int] | None:
    """Return the row that stands for each Doc; None if its mean does."""
    cls = encoder.tokenizer.cls_token_id
    has_none = cls is None and encoder.config.is_encoder_decoder
    if text_row == "mean" or (text_row == "auto" and has_none):
        return None
    rows = []
    for of_doc, encoding in zip(windows, encodings, strict=True):
        begins, ends = real_rows(encoding)
        if not of_doc:
            rows.append(-1)
        elif text_row == "first" or (text_row == "auto" and of_doc[0].ids[0] == cls):
            rows.append(int(begins[0]))
        # XLNet's [CLS] is the last one; in a decoder only the last has seen the text.
        elif text_row == "last" or cls is None or of_doc[-1].ids[-1] == cls:
            rows.append(int(ends[-1]) - 1)
        else:
            rows.append(-1)
    return rows
