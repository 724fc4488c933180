"""A transformer that reads a Doc as its own tokenizer reads pairs of texts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy_transformers.align import get_alignment_via_offset_mapping
from spacy_transformers.data_classes import FullTransformerBatch, WordpieceBatch
from spacy_transformers.layers import TransformerModel
from transformers import PreTrainedTokenizerFast

from ...errors import Errors, PairError
from ...util._compat import set_forward
from ..pairs import SEPARATOR, Pair, split_pair, warn_of_single

InT = list[Doc]
OutT = FullTransformerBatch

# Tokenizers that know no limit say so with 10 to the power of 30.
_NO_LIMIT = 10**9


class PairTransformer(TransformerModel):
    """Encodes Docs with a separator as `tokenizer(first, second, truncation=True)`."""

    # No attribute of thinc's, as those are saved.
    has_warned = False

    def __init__(self, name: str, separator: str = SEPARATOR, **settings: Any) -> None:
        """Make the layer.

        name (str): The encoder's name on the hub, or its folder.
        separator (str): The separator between the two texts of a Doc. Docs without one
            are encoded as single texts.
        **settings: What else spacy-transformers' TransformerModel takes.
        """
        super().__init__(name, whole_docs, **settings)
        set_forward(self, forward)
        self.attrs["separator"] = separator
        self.attrs["replace_listener_cfg"] = replace_listener_cfg

    def copy(self) -> "PairTransformer":
        """Copy the layer with all its weights, as `nlp.replace_listeners` does."""
        copied: Any = super().copy()
        copied.__class__ = PairTransformer
        set_forward(copied, forward)
        copied.attrs.update(self.attrs)
        return copied


def forward(
    model: PairTransformer, docs: InT, is_train: bool
) -> tuple[OutT, Callable[[OutT], InT]]:
    """Apply the layer: like spacy-transformers' own, but for how a Doc is encoded."""
    transformer = model.layers[0]
    spans = whole_docs(docs)
    pairs = [split_pair(doc, model.attrs["separator"]) for doc in docs if len(doc)]
    if not is_train:
        warn_of_single(model, docs, model.attrs["separator"])
    encoded, offsets = encode(model.tokenizer, pairs)
    _place_in_docs(offsets, encoded, pairs, [doc for doc in docs if len(doc)])
    align = get_alignment_via_offset_mapping([s for own in spans for s in own], offsets)
    wordpieces = WordpieceBatch.from_batch_encoding(encoded)
    output, backprop_transformer = transformer(wordpieces, is_train)
    batch = FullTransformerBatch(
        spans=spans, wordpieces=wordpieces, model_output=output, align=align
    )

    def backprop(d_batch: OutT) -> InT:
        backprop_transformer(d_batch.model_output)
        return docs

    return batch, backprop


def whole_docs(docs: InT) -> list[list[Any]]:
    """Give each Doc as one span; an empty one has none."""
    return [[doc[:]] if len(doc) else [] for doc in docs]


def encode(tokenizer: Any, pairs: list[Pair]) -> tuple[Any, Any]:
    """Encode texts and pairs of texts the way Hugging Face does.

    tokenizer (PreTrainedTokenizerFast): The encoder's tokenizer.
    pairs (list[Pair]): The texts.
    RETURNS (tuple[BatchEncoding, NDArray]): What the encoder gets, and the characters
        of each wordpiece in its own text, (n_texts, n_wordpieces, 2).
    """
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise PairError(Errors.SLOW_TOKENIZER.format(name=type(tokenizer).__name__))
    if tokenizer.sep_token is None and any(p.second is not None for p in pairs):
        raise PairError(Errors.NO_SEPARATOR.format(name=tokenizer.name_or_path))
    is_limited = tokenizer.model_max_length < _NO_LIMIT
    encoded: Any = tokenizer(
        [p.first if p.second is None else (p.first, p.second) for p in pairs],
        truncation=is_limited,
        padding="longest",
        return_attention_mask=True,
        return_offsets_mapping=True,
        return_tensors="np",
    )
    encoded["input_texts"] = [one.tokens for one in encoded.encodings]
    encoded["pad_token"] = tokenizer.pad_token
    return encoded, encoded.pop("offset_mapping")


def _place_in_docs(
    offsets: Any, encoded: Any, pairs: list[Pair], docs: list[Doc]
) -> None:
    """Count the characters of the second texts, and of the separators, in the Docs."""
    for i, (pair, doc) in enumerate(zip(pairs, docs, strict=True)):
        if pair.second is None:
            continue
        token = doc[pair.separator]
        begin = len(doc.text) - len(pair.second)
        sequence = encoded.encodings[i].sequence_ids
        is_second = np.array([s == 1 for s in sequence])
        offsets[i, is_second] += begin
        is_real = encoded["attention_mask"][i] > 0
        special = np.flatnonzero(np.array([s is None for s in sequence]) & is_real)
        # The first one is [CLS], the last one ends the second text.
        offsets[i, special[1:-1]] = (token.idx, token.idx + len(token))


def replace_listener_cfg(
    transformer: dict[str, Any], listener: dict[str, Any]
) -> dict[str, Any]:
    """Say in a config what a listener is replaced with."""
    while "pooling" not in listener:  # spaCy gives what stands in model.tok2vec
        listener = listener["tok2vec"]
    return {
        **transformer,
        "@architectures": "spacy-spanft.Tok2VecPairTransformer.v1",
        "pooling": listener["pooling"],
        "grad_factor": listener.get("grad_factor", 1.0),
    }
