"""How probable an entity is: the share of the tag sequences that have it.

Each sequence of tags that makes entities is as probable as the product of its tags'
probabilities, divided by the sum of that over all such sequences. What the sequences
have before a token and after it is added up once (forward-backward), so that an entity
costs no more than its tokens.
"""

from collections.abc import Sequence

import numpy as np

from .bilou import BEGIN, INSIDE, KINDS, LAST, UNIT, Allowed, Floats, Ints, forbid

# Start, end and the label's number of an entity.
Entity = tuple[int, int, int]


def entity_probabilities(
    scores: Floats,
    lengths: Sequence[int],
    allowed: Allowed,
    entities: Sequence[Sequence[Entity]],
) -> list[Floats]:
    """Compute the probability of each entity.

    scores (Floats): The logarithms of the probabilities of the tags, (n_tokens,
        n_tags), those of all Docs one after the other.
    lengths (Sequence[int]): The number of tokens of each Doc.
    allowed (Allowed): What each token may be.
    entities (Sequence[Sequence[Entity]]): The entities of each Doc.
    RETURNS (list[Floats]): Their probabilities, (n_entities,) for each Doc.
    """
    # Only Docs with entities have anything to add up.
    full = np.array([len(own) > 0 for own in entities], np.bool_)
    sizes = np.asarray(lengths, np.int64)
    kept = forbid(scores, sizes, allowed)[np.repeat(full, sizes)]
    found = iter(_of_docs(kept, sizes[full], [own for own in entities if own]))
    return [next(found) if is_full else np.zeros(0) for is_full in full]


def _of_docs(
    scores: Floats, sizes: Ints, entities: list[Sequence[Entity]]
) -> list[Floats]:
    if not entities:
        return []
    before, after = _sums(scores, sizes)
    last = np.cumsum(sizes) - 1
    totals = np.logaddexp.reduce(before[last], axis=1)
    found = []
    for start, total, own in zip(last - sizes + 1, totals, entities, strict=True):
        logs = [_log_sum(one, int(start), scores, before, after) for one in own]
        found.append(np.exp(np.minimum(np.array(logs) - total, 0.0)))
    return found


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
    """Add up all sequences before and after each tag, all Docs side by side.

    RETURNS (tuple[Floats, Floats]): The logarithms of the sums over the sequences that
        end with a tag, it included, and over those that go on after it.
    """
    order = np.argsort(-sizes, kind="stable")
    starts, lengths = (np.cumsum(sizes) - sizes)[order], sizes[order]
    before, after = scores.copy(), np.zeros_like(scores)
    for step in range(1, int(lengths[0])):
        n = int(np.searchsorted(-lengths, -step))  # Docs with a token here
        rows = starts[:n] + step
        before[rows] += _forward(before[rows - 1])
    for step in range(int(lengths[0]) - 1, 0, -1):
        n = int(np.searchsorted(-lengths, -step))
        rows = starts[:n] + step
        after[rows - 1] = _backward(scores[rows] + after[rows])
    return before, after


def _forward(sums: Floats) -> Floats:
    """Go one token on: from O, L and U to O, B and U, from B and I to I and L."""
    inner = _by_label(sums)
    closed = [sums[:, :1], inner[:, :, LAST], inner[:, :, UNIT]]
    outside = np.logaddexp.reduce(np.concatenate(closed, axis=1), axis=1)
    inside = np.logaddexp(inner[:, :, BEGIN], inner[:, :, INSIDE])
    return _joined(outside, {BEGIN: None, INSIDE: inside, LAST: inside, UNIT: None})


def _backward(sums: Floats) -> Floats:
    """Go one token back: to O, L and U from O, B and U, to B and I from I and L."""
    inner = _by_label(sums)
    opening = [sums[:, :1], inner[:, :, BEGIN], inner[:, :, UNIT]]
    outside = np.logaddexp.reduce(np.concatenate(opening, axis=1), axis=1)
    inside = np.logaddexp(inner[:, :, INSIDE], inner[:, :, LAST])
    return _joined(outside, {BEGIN: inside, INSIDE: inside, LAST: None, UNIT: None})


def _by_label(sums: Floats) -> Floats:
    """Leave O out, and cut the others by their label: (n_docs, n_labels, 4)."""
    return sums[:, 1:].reshape(len(sums), -1, len(KINDS))


def _joined(outside: Floats, inside: dict[int, Floats | None]) -> Floats:
    """Put the sums of all tags side by side; None stands for that of O."""
    n_labels = next(len(one.T) for one in inside.values() if one is not None)
    alike = np.repeat(outside[:, None], n_labels, axis=1)
    kinds = [alike if one is None else one for _, one in sorted(inside.items())]
    tags = np.stack(kinds, axis=2).reshape(len(outside), -1)
    return np.concatenate([outside[:, None], tags], axis=1)
