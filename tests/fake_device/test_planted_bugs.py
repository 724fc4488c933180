"""Mistakes that only a GPU shows, planted in the code: the fake device shows them."""

from importlib import import_module
from pathlib import Path

import pytest

from .pipelines import outcome_of
from .test_pipelines import check

ADDED = "ops.scatter_add(d_rows, rows, backprop_pooling(d_tokens).dataXd)"
SUMMED = "    ops.scatter_add(Y, texts, X.vectors[rows])\n"
# In which module of which arm what becomes what, and what the arm fails with then.
BUGS = {
    "lengths left on the host": (
        *("ml.layers.span_pool", "textcat mean summary", SUMMED),
        f"    counts = sizes.astype('i')\n{SUMMED}",
        "Unsupported type .*numpy.ndarray",
    ),
    "int64 lengths": (
        *("ml.layers.span_tokens", "bilou_ner"),
        "Sequences(windows.dataXd, uploaded[0], sizes)",
        "Sequences(windows.dataXd, model.ops.asarray(sizes), sizes)",
        "NoneType",  # what CupyOps.reduce_max returns for them
    ),
    "a gradient on the host": (
        *("ml.layers.span_pool", "textcat cnn"),
        "ops.xp.zeros_like(X.vectors)\n        # No row",
        "np.zeros(X.vectors.shape, 'f')\n        # No row",
        "on the device|only integer|not allowed",
    ),
    "indices on the host": (
        *("ml.layers.span_window", "textcat cnn", "upload(model.ops, *rows)", "rows"),
        "too many uploads",
    ),
    "float() in a loop": (
        *("pipeline.text_regressor", "score cnn", "scores[:, 0].tolist()"),
        "[float(score) for score in scores[:, 0]]",
        "too many downloads",
    ),
    "strided rows for a kernel": (
        *("ml.layers.pooling", "textcat attention"),
        "ops.reduce_sum(rows * weights, X.lengths)",
        "ops.reduce_sum((rows * weights).T.copy().T, X.lengths)",
        "not contiguous",
    ),
    "two values for one place": (
        *("ml.layers.span_tokens", "bilou_ner", ADDED),
        "d_rows[ops.xp.minimum(rows, 5)] = backprop_pooling(d_tokens).dataXd",
        "two values for one place",
    ),
    "memory that is never written": (
        *("ml.layers.span_window", "textcat cnn", "dW[center] = matmul(d.T, rows)"),
        *("pass", "nan"),
    ),
    "a mask in the place of numbers": (
        *("ml.layers.sequences", "textcat cnn", "Y[full] = pooled"),
        *("Y[model.ops.asarray(is_full)] = pooled", "too many"),
    ),
    "lengths asked for again": (
        *("ml.layers.span_pool", "textcat cnn"),
        "Sequences(docs.dataXd, lengths, n_rows)",
        *("Ragged(docs.dataXd, lengths)", "too many downloads"),
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_shown(name, bert, on_cpu):
    module, arm, right, wrong, message = BUGS[name]
    expected = on_cpu(arm)
    # Whoever has imported a function calls one whose globals are the module's.
    members = vars(import_module(f"spacy_spanft.{module}"))
    source = Path(members["__file__"]).read_text(encoding="utf8")
    assert source.count(right) == 1, "the code has moved on: so must the bug"
    before = dict(members)
    try:
        exec(
            compile(source.replace(right, wrong), members["__file__"], "exec"), members
        )
        with pytest.raises((AssertionError, TypeError, AttributeError), match=message):
            check(arm, outcome_of(arm, bert, 0), expected)
    finally:
        members.clear()
        members.update(before)
