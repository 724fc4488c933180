"""Mistakes that only a GPU shows, planted in the code: the fake device shows them."""

from importlib import import_module
from typing import NamedTuple

import pytest

from .pipelines import outcome_of
from .test_pipelines import check


class Bug(NamedTuple):
    """A mistake: in which module what becomes what, and how an arm fails then."""

    module: str
    right: str
    wrong: str
    arm: str
    message: str


SUMMARY = (
    "ml.layers.doc_summary",
    "    ops.scatter_add(Y, texts, X.vectors[rows])\n",
)
GRADIENT = ("ml.layers.span_pool", "ops.xp.zeros_like(X.vectors)")
ADDED = (
    "ml.layers.span_tokens",
    "ops.scatter_add(d_rows, rows, backprop_tokens(d_tokens).dataXd)",
)
NUMPY = "__import__('numpy')"
BUGS = {
    "lengths left on the host": Bug(
        *SUMMARY,
        f"    counts = sizes.astype('i')\n{SUMMARY[1]}",
        "textcat mean summary",
        "Unsupported type .*numpy.ndarray",
    ),
    "int64 lengths": Bug(
        "ml.layers.span_tokens",
        "Sequences(windows.dataXd, indices[2], on_host[3])",
        "Sequences(windows.dataXd, model.ops.asarray(on_host[3]), on_host[3])",
        "bilou_ner",
        "NoneType",  # what CupyOps.reduce_max gives for them
    ),
    "a gradient on the host": Bug(
        *GRADIENT,
        "np.zeros(X.vectors.shape, 'f')",
        "textcat cnn",
        "on the device|only integer|not allowed",
    ),
    "np.zeros_like": Bug(
        *GRADIENT, "np.zeros_like(X.vectors)", "textcat cnn", "np.zeros_like of"
    ),
    "indices on the host": Bug(
        "ml.layers.span_window",
        "upload(model.ops, *rows)",
        "rows",
        "textcat cnn",
        "too many uploads",
    ),
    "np.exp": Bug(
        "ml.layers.attention_sum",
        "ops.xp.exp(",
        "np.exp(",
        "textcat attention",
        "np.exp of",
    ),
    "out= on the host": Bug(
        "ml.layers.attention_sum",
        "out=hidden",
        "out=np.zeros(hidden.shape, 'f')",
        "textcat attention",
        "Output arguments type",
    ),
    "float() in a loop": Bug(
        "pipeline.text_regressor",
        "scores[:, 0].tolist()",
        "[float(score) for score in scores[:, 0]]",
        "score cnn",
        "too many downloads",
    ),
    "strided rows for a kernel": Bug(
        "ml.layers.attention_sum",
        "ops.reduce_sum(rows * weights, X.lengths)",
        "ops.reduce_sum((rows * weights).T.copy().T, X.lengths)",
        "textcat attention",
        "not contiguous",
    ),
    "np.add.at": Bug(
        *ADDED,
        "np.add.at(d_rows, rows, backprop_tokens(d_tokens).dataXd)",
        "bilou_ner",
        "np.add of",
    ),
    "two values for one place": Bug(
        *ADDED,
        "d_rows[ops.xp.minimum(rows, 5)] = backprop_tokens(d_tokens).dataXd",
        "bilou_ner",
        "two values for one place",
    ),
    "memory that is never written": Bug(
        "ml.layers.span_window",
        "dW[center] = matmul(d.T, rows)",
        "pass",
        "textcat cnn",
        "nan",
    ),
    "a mask in the place of numbers": Bug(
        "ml.layers.with_nonempty",
        "Y[full] = pooled",
        "Y[model.ops.asarray(is_full)] = pooled",
        "textcat cnn",
        "too many",
    ),
    "lengths asked for again": Bug(
        "ml.layers.span_pool",
        "Sequences(docs.dataXd, lengths, flat[1])",
        "Ragged(docs.dataXd, lengths)",
        "textcat cnn",
        "too many downloads",
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs(name, bert, on_cpu, planted):
    bug = BUGS[name]
    theirs = on_cpu(bug.arm)
    planted(bug)
    with pytest.raises((AssertionError, TypeError, AttributeError), match=bug.message):
        check(bug.arm, outcome_of(bug.arm, bert, 0), theirs)


@pytest.fixture
def planted():
    """Plant a bug in a module, and take it out again.

    Whoever has imported a function of it calls one whose globals are the module's.
    """
    changed = []

    def plant(bug):
        module = import_module(f"spacy_spanft.{bug.module}")
        changed.append((module, dict(vars(module))))
        with open(module.__file__, encoding="utf8") as file:
            source = file.read()
        assert source.count(bug.right) == 1, "the code has moved on: so must the bug"
        source = source.replace(bug.right, bug.wrong)
        exec(compile(source, module.__file__, "exec"), vars(module))

    yield plant
    for module, before in changed:
        vars(module).clear()
        vars(module).update(before)
