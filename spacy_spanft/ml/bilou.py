"""Entities as BILUO tags: the model, the best sequence of tags, its probability.

A tag says of a token whether it begins an entity of several tokens, is inside it, is
its last one, is an entity by itself (U, one unit), or is outside of all (O).
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.ml.models.textcat import resize_and_set_ref
from spacy.tokens import Doc
from thinc.api import Model, chain, with_array
from thinc.types import Floats2d

from .layers.scoring import fixed_dropout, resizable_output

Ints = NDArray[np.int64]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Tagger = Model[list[Doc], list[Floats2d]]
# Start, end and the label's number of an entity.
Entity = tuple[int, int, int]

OUT = 0
# After O, each label has these four, in this order.
KINDS = "BILU"
BEGIN, INSIDE, LAST, UNIT = range(4)


def bilou_tagger(
    tok2vec: Tagger, dropout: float = 0.1, nO: int | None = None
) -> Tagger:
    """Build `spacy-spanft.BilouTagger.v1`: the probability of each tag of each token.

    tok2vec (Model[List[Doc], List[Floats2d]]): The vectors of the tokens, such as
        spacy-spanft.SpanTok2Vec.v1.
    dropout (float): The share of a token's vector that is dropped in training;
        `[training] dropout` does not change it.
    nO (Optional[int]): The number of tags, 1 + 4 for each label.
    RETURNS (Model[List[Doc], List[Floats2d]]): Docs to (n_tokens, n_tags) each.
    """
    output, growing = resizable_output(exclusive=True, nO=nO)
    tags: Any = with_array(chain(fixed_dropout(dropout), growing))
    model: Any = chain(tok2vec, tags)
    model.init = init_tagger
    model.set_ref("tok2vec", tok2vec)
    model.set_ref("output_layer", output)
    model.attrs["resize_output"] = partial(resize_and_set_ref, resizable_layer=growing)
    return model


def init_tagger(model: Tagger, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Set up the model from the width of the vectors: no transformer needs to run."""
    tok2vec, output = map(model.get_ref, ("tok2vec", "output_layer"))
    tok2vec.initialize(X=X)
    if model.has_dim("nO"):
        output.set_dim("nO", model.get_dim("nO"), force=True)
    output.initialize(X=model.ops.alloc2f(1, tok2vec.get_dim("nO")))
    model.set_dim("nO", output.get_dim("nO"), force=True)


class Allowed(NamedTuple):
    """What each token of some Docs may be, all (n_tokens,)."""

    inside: Bools  # whether it may be part of an entity
    edge: Bools  # whether an entity may begin or end with it
    joined: Bools  # whether an entity may hold it and the token before it


def tag_names(labels: Iterable[str]) -> list[str]:
    """Return a model's outputs by name: O, and then B, I, L and U of each label."""
    return ["O", *(f"{kind}-{label}" for label in labels for kind in KINDS)]


def best_tags(scores: Floats, lengths: Sequence[int], allowed: Allowed) -> Ints:
    """Return the tags of the highest sum of scores that make entities, (n_tokens,).

    After O, L and U stands O, B or U of any label; after B and I stands I or L of the
    same label. So the best way to each tag goes over one of two cases, and a step, of
    all Docs side by side, costs as much as there are tags, not the square of it.

    scores (Floats): The logarithms of the probabilities, (n_tokens, n_tags), those of
        all Docs one after the other.
    lengths (Sequence[int]): The number of tokens of each Doc.
    """
    sizes = np.asarray(lengths, np.int64)
    scores = forbid(scores, sizes, allowed)
    steps = _steps(sizes)
    came_from = np.zeros(scores.shape, np.int64)
    best = scores[steps[0]].copy()
    for rows in steps[1:]:
        reached, came_from[rows] = _step(best[: len(rows)])
        best[: len(rows)] = reached + scores[rows]
    tags = np.zeros(len(scores), np.int64)
    current = best.argmax(axis=1)
    for rows in reversed(steps):
        tags[rows] = current[: len(rows)]
        current[: len(rows)] = came_from[rows, tags[rows]]
    return tags


def spans_of_tags(tags: Ints) -> list[Entity]:
    """Read the entities off the tags of a Doc."""
    label, kind = _split(tags)
    starts = np.flatnonzero((kind == BEGIN) | (kind == UNIT))
    ends = np.flatnonzero((kind == LAST) | (kind == UNIT)) + 1
    columns = starts.tolist(), ends.tolist(), label[starts].tolist()
    return list(zip(*columns, strict=True))


def never_found(tags: Ints, allowed: Allowed) -> Bools:
    """Return which tokens belong to gold entities that no sequence may have.

    tags (Ints): The gold tags of a Doc, -1 where nothing is known.
    """
    _, kind = _split(np.maximum(tags, OUT))
    is_edge = (kind == BEGIN) | (kind == LAST) | (kind == UNIT)
    goes_on = (kind == INSIDE) | (kind == LAST)
    is_wrong = (is_edge & ~allowed.edge) | (goes_on & ~allowed.joined)
    is_wrong |= (is_edge | goes_on) & ~allowed.inside
    entity = np.cumsum(~goes_on)  # what is outside is one by itself
    return np.bincount(entity, is_wrong)[entity] > 0


def _split(tags: Ints) -> tuple[Ints, Ints]:
    """Return the label and the kind of each tag, both -1 for O."""
    inside = tags != OUT
    label = np.where(inside, (tags - 1) // len(KINDS), -1)
    kind = np.where(inside, (tags - 1) % len(KINDS), -1)
    return label, kind


def forbid(scores: Floats, sizes: Ints, allowed: Allowed) -> Floats:
    """Set the score of tags that a token cannot have to minus infinity."""
    scores = scores.astype(np.float64)
    ends = np.cumsum(sizes)
    first, last = (np.zeros(len(scores), np.bool_) for _ in range(2))
    first[(ends - sizes)[sizes > 0]] = True
    last[ends[sizes > 0] - 1] = True
    # Whether an entity may go on from the token before it, and to the one after it.
    back = allowed.joined & ~first
    on = np.append(allowed.joined[1:], False) & ~last
    fine = {
        BEGIN: allowed.edge & on,
        INSIDE: back & on,
        LAST: allowed.edge & back,
        UNIT: allowed.edge,
    }
    for kind, is_fine in fine.items():
        scores[~(is_fine & allowed.inside), 1 + kind :: len(KINDS)] = -np.inf
    return scores


def _steps(sizes: Ints) -> list[Ints]:
    """Return the first token of each Doc, then each second one, longest Docs first."""
    order = np.argsort(-sizes, kind="stable")
    starts, lengths = (np.cumsum(sizes) - sizes)[order], sizes[order]
    counts = np.searchsorted(-lengths, -np.arange(max(1, int(lengths[0]))))
    return [starts[:n] + step for step, n in enumerate(counts.tolist())]


def _step(best: Floats) -> tuple[Floats, Ints]:
    """Return the best way to each next tag: its score so far, and its last tag."""
    n_docs, n_tags = best.shape
    inner = best[:, 1:].reshape(n_docs, -1, len(KINDS))
    numbers = np.arange(1, n_tags).reshape(-1, len(KINDS))
    closed = best.copy()
    for kind in (BEGIN, INSIDE):
        closed[:, 1 + kind :: len(KINDS)] = -np.inf
    last = closed.argmax(axis=1)[:, None]
    origin = np.repeat(last, n_tags, axis=1)
    goes_on = inner[:, :, BEGIN] >= inner[:, :, INSIDE]
    before = np.where(goes_on, numbers[:, BEGIN], numbers[:, INSIDE])
    for kind in (INSIDE, LAST):
        origin[:, 1 + kind :: len(KINDS)] = before
    return np.take_along_axis(best, origin, axis=1), origin


def entity_probabilities(
    scores: Floats,
    lengths: Sequence[int],
    allowed: Allowed,
    entities: list[list[Entity]],
) -> list[Floats]:
    """Compute the probability of each entity: the share of the sequences that have it.

    A sequence of tags is as probable as the product of its tags' probabilities, divided
    by the sum of that over all sequences that make entities. What they have before a
    token and after it is added up once (forward-backward).

    entities (list[list[Entity]]): The entities of each Doc; for the other
        arguments see `best_tags`.
    RETURNS (list[Floats]): Their probabilities, (n_entities,) for each Doc.
    """
    sizes = np.asarray(lengths, np.int64)
    scores = forbid(scores, sizes, allowed)
    before, after = _sums(scores, sizes)
    ends = np.cumsum(sizes).tolist()
    probabilities: list[Floats] = []
    for end, size, of_doc in zip(ends, lengths, entities, strict=True):
        total = np.logaddexp.reduce(before[end - 1 : end].ravel())
        logs = [_log_sum(each, end - size, scores, before, after) for each in of_doc]
        probabilities.append(np.exp(np.minimum(np.array(logs) - total, 0.0)))
    return probabilities


def _log_sum(
    entity: Entity, offset: int, scores: Floats, before: Floats, after: Floats
) -> float:
    """Add up, as a logarithm, all sequences of a Doc that have an entity."""
    start, end, label = entity
    first, last = offset + start, offset + end - 1
    tag = 1 + len(KINDS) * label
    if first == last:
        return float(before[first, tag + UNIT] + after[first, tag + UNIT])
    between = scores[first + 1 : last, tag + INSIDE].sum()
    ends = scores[last, tag + LAST] + after[last, tag + LAST]
    return float(before[first, tag + BEGIN] + between + ends)


def _sums(scores: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Add up all sequences that end with a tag, and all that go on after it."""
    steps = _steps(sizes)[1:]
    before, after = scores.copy(), np.zeros_like(scores)
    for rows in steps:
        before[rows] += _forward(before[rows - 1])
    for rows in reversed(steps):
        # From here back to the token before, B and L change their roles.
        mirrored = _mirrored(scores[rows] + after[rows])
        after[rows - 1] = _mirrored(_forward(mirrored))
    return before, after


def _forward(sums: Floats) -> Floats:
    """Go one token on: from O, L and U to O, B and U, from B and I to I and L."""
    inner = sums[:, 1:].reshape(len(sums), -1, len(KINDS))
    closed = [sums[:, :1], inner[:, :, LAST], inner[:, :, UNIT]]
    outside = np.logaddexp.reduce(np.concatenate(closed, axis=1), axis=1)[:, None]
    tags = np.empty_like(inner)
    tags[:] = outside[:, :, None]
    goes_on = np.logaddexp(inner[:, :, BEGIN], inner[:, :, INSIDE])
    tags[:, :, INSIDE] = tags[:, :, LAST] = goes_on
    return np.concatenate([outside, tags.reshape(len(sums), -1)], axis=1)


def _mirrored(sums: Floats) -> Floats:
    """Exchange B and L of each label."""
    mirrored = sums.copy()
    for kind, other in ((BEGIN, LAST), (LAST, BEGIN)):
        mirrored[:, 1 + kind :: len(KINDS)] = sums[:, 1 + other :: len(KINDS)]
    return mirrored
