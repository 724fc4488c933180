"""An encoder of Hugging Face: Docs to the vectors of their wordpieces."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..alignment import Encoding, encoding_of_tokens, real_rows
from ..encoder.loading import load_encoder
from ..encoder.micro_batches import micro_batches
from ..encoder.settings import SETTINGS, EncoderSettings, window_of
from ..encoder.shim import EncoderShim
from ..encoder.wordpieces import Window, cut_windows, encoding_of
from ..pairs import warn_of_single
from .doc_rows import DocRows

InT = list[Doc]
OutT = DocRows
NAME = "hf_encoder"
# What a micro-batch costs beside its rows, in rows: a GPU is slow to start and fast to
# go on.
_OVERHEAD = {"cpu": 48.0, "cuda": 4096.0}
_NOTHING = encoding_of_tokens(0)._replace(windows=np.zeros(0, np.int64), width=0)


def hf_encoder(settings: EncoderSettings) -> Model[InT, OutT]:
    """Make the layer, without weights until it is initialized or loaded."""
    shim = EncoderShim(settings)
    attrs = {SETTINGS: settings}
    return Model(NAME, forward, init=init, shims=[shim], dims={"nO": None}, attrs=attrs)


def init(model: Model[InT, OutT], X: InT | None = None, Y: Any = None) -> None:
    """Load the encoder, if there is none yet."""
    shim, settings = shim_of(model), settings_of(model)
    if not shim.is_loaded:
        shim.take(load_encoder(settings))
    model.set_dim("nO", shim.encoder.module.config.hidden_size)


def shim_of(model: Model[InT, OutT]) -> EncoderShim:
    """Return the shim that holds the encoder of a layer."""
    shim: Any = model.shims[0]
    return shim  # type: ignore[no-any-return]


def settings_of(model: Model[InT, OutT]) -> EncoderSettings:
    """Return the settings of a layer."""
    settings: EncoderSettings = model.attrs[SETTINGS]
    return settings


def is_trained(model: Model[InT, OutT]) -> bool:
    """Whether anything of the encoder learns in the coming update."""
    return any(p.requires_grad for p in shim_of(model).encoder.module.parameters())


def forward(
    model: Model[InT, OutT], docs: InT, is_train: bool
) -> tuple[OutT, Callable[[Floats2d], InT]]:
    """Apply the layer. No row is computed for padding beyond a micro-batch's own."""
    shim, ops, settings = shim_of(model), model.ops, settings_of(model)
    if settings.separator is not None and not is_train:
        warn_of_single(shim, docs, settings.separator)
    size, overlap = window_of(shim.encoder, settings)
    tokenizer = shim.encoder.tokenizer
    cut, counts = cut_windows(docs, tokenizer, size, overlap, settings.separator)
    bounds = pairwise([0, *np.cumsum(counts).tolist()])
    windows = [cut[a:b] for a, b in bounds]  # of each Doc
    pairs = zip(docs, windows, strict=True)
    encodings = [encoding_of(doc, ws) if ws else _NOTHING for doc, ws in pairs]
    widths = [encoding.width for encoding in encodings]
    starts = [0, *np.cumsum(counts * np.array(widths, np.int64)).tolist()]
    cls = None
    if not _is_mean(model):
        both = zip(windows, encodings, strict=True)
        cls = [_row_of_text(model, ws, encoding) for ws, encoding in both]
    if not cut:
        nothing = ops.alloc2f(0, model.get_dim("nO"))
        return DocRows(docs, nothing, starts, encodings, cls), lambda d_rows: docs
    lengths = np.array([len(window) for window in cut], np.int64)
    overhead = _OVERHEAD[shim.device.type]
    groups = micro_batches(lengths, overhead, settings.max_batch_rows)
    vectors, backprop_encoder = shim.encode(cut, groups, is_train)
    flat: Any = torch2xp(vectors, ops=ops)
    # Windows of one Doc are all as wide as the widest: rows of none are between them.
    rows = _real_rows(encodings, starts) if starts[-1] > len(vectors) else None
    if rows is not None:
        padded = ops.alloc2f(starts[-1], flat.shape[1])
        padded[rows] = flat
        flat = padded

    def backprop(d_rows: Floats2d) -> InT:
        d_vectors: Any = d_rows if rows is None else d_rows[rows]
        backprop_encoder(xp2torch(ops.xp.ascontiguousarray(d_vectors)))
        return docs

    return DocRows(docs, flat, starts, encodings, cls), backprop


def _real_rows(encodings: list[Encoding], starts: list[int]) -> Any:
    """Return the rows that are not padding."""
    rows = [
        start + np.arange(begin, end)
        for start, encoding in zip(starts, encodings, strict=False)
        for begin, end in zip(*real_rows(encoding), strict=True)
    ]
    return np.concatenate(rows)


def _is_mean(model: Model[InT, OutT]) -> bool:
    """Whether the mean stands for a text, as where no wordpiece has seen all of it."""
    text_row = settings_of(model).text_row
    encoder = shim_of(model).encoder
    has_cls = encoder.tokenizer.cls_token_id is not None
    is_encoder = not has_cls and encoder.config.is_encoder_decoder
    return text_row == "mean" or (text_row == "auto" and bool(is_encoder))


def _row_of_text(
    model: Model[InT, OutT], windows: list[Window], encoding: Encoding
) -> int:
    """Return the row that stands for a Doc; -1 if there is none."""
    if not windows:
        return -1
    begins, ends = real_rows(encoding)
    first, last = int(begins[0]), int(ends[-1]) - 1
    text_row = settings_of(model).text_row
    cls = shim_of(model).encoder.tokenizer.cls_token_id
    if text_row == "first" or (text_row == "auto" and windows[0].ids[0] == cls):
        return first
    # XLNet's [CLS] is the last one; in a decoder only the last one has seen the text.
    is_last = cls is None or windows[-1].ids[-1] == cls
    return last if text_row == "last" or is_last else -1
