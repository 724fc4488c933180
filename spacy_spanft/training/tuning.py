"""An encoder learns before the training loop, in the way that suits its texts."""

from itertools import takewhile
from typing import Any, cast

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Model

from ..errors import counted, report
from .contrast import HANDFUL, encoder_weights, learn_contrast
from .logistic import (
    Floats,
    Layer,
    Rows,
    cross_entropy,
    fit_layer,
    fit_probe,
    folds_of,
    macro_f,
    reduced,
)

# How an encoder may learn, and at which share of the rate of contrast.
_WAYS = {"by contrast": 1.0, "without contrast": 0.5, "not at all": 0.0}
_RATE_OF_HANDFUL = 0.2
# Any training made a probe worse that was nearly perfect.
_NEARLY_PERFECT = 0.9
# Fewer texts tell too little of that, and of so many one half does.
_FEWEST_TO_CHOOSE, _MANY_TO_CHOOSE, _STEPS_TO_CHOOSE = 64, 200, 50
_SCALES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
# Then the last layer is fitted: of a handful, one scale keeps large what is.
_STRENGTH, _STRENGTH_OF_HANDFUL = 0.1, 0.01


def to_choose(n_texts: int, n_steps: int) -> tuple[int, int]:
    """Return how many halves of texts are held out to choose a way, and the steps."""
    if n_texts < _FEWEST_TO_CHOOSE:
        return 0, 0
    n_halves = 1 if n_texts >= _MANY_TO_CHOOSE else 2
    return n_halves, max(1, min(_STEPS_TO_CHOOSE, n_steps // 2))


class Tuning:
    """A text classifier and its texts; X holds their features before any training."""

    def __init__(
        self, nlp: Language, name: str, examples: list[Example], X: Floats, Y: Floats
    ) -> None:
        """Remember the weights of the encoder, which may learn in several ways."""
        self.nlp, self.name, self.examples, self.X, self.Y = nlp, name, examples, X, Y
        self.model: Model[Any, Any] = cast(Any, nlp.get_pipe(name)).model
        self.is_handful = len(examples) <= HANDFUL

    def run(self, probe: Layer, score: float, n_steps: int) -> None:
        """Let the encoder learn, from a probe, and fit the last layer again."""
        is_perfect = score >= _NEARLY_PERFECT and not self.is_handful
        way = "not at all" if is_perfect else self.choose(n_steps)
        if not _WAYS[way]:
            report(f"ℹ The encoder of {self.name!r} stays as it is.")
            return
        steps = f"{counted(n_steps, 'step')}, before the training loop"
        report(f"ℹ The encoder of {self.name!r} learns {way}, in {steps}.")
        every = np.arange(len(self.examples))
        self.learn(every, probe, n_steps, way)
        set_output(self.model, *self.refit(every)[:2])

    def choose(self, n_steps: int) -> str:
        """Return the way that suits held-out texts, or the first one of few texts."""
        texts = [example.reference.text for example in self.examples]
        n_halves, n_trials = to_choose(len({*texts}), n_steps)
        if not n_halves:
            return next(iter(_WAYS))
        trials = counted(2 * n_halves, "training")
        report(
            f"ℹ How should the encoder of {self.name!r} learn? {trials} of "
            f"{counted(n_trials, 'step')} try it on texts that are held out."
        )
        # The training that follows draws the same numbers as without it.
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            return self.best_way(texts, n_halves, n_trials)

    def best_way(self, texts: list[str], n_halves: int, n_steps: int) -> str:
        """Return the way after which the labels of held-out texts are most likely."""
        weights = encoder_weights(self.nlp, self.name)
        frozen = [1 * x for x in weights]
        folds = folds_of(self.Y, texts, 2)
        scores = {way: np.zeros_like(self.Y) for way in _WAYS}
        for fold in range(n_halves):
            rows, others = np.flatnonzero(folds != fold), folds == fold
            probe = fit_probe(self.X[rows], self.Y[rows], exclusive=True)[:2]
            for way, rate in _WAYS.items():
                W, b, X = *probe, self.X
                if rate:
                    self.learn(rows, probe, n_steps, way)
                    W, b, X = self.refit(rows)
                    for x, before in zip(weights, frozen, strict=True):
                        x[...] = before
                scores[way][others] = X[others] @ W.T + b
        tested = folds < n_halves
        Y = self.Y[tested]
        f = {way: macro_f(x[tested], Y, exclusive=True) for way, x in scores.items()}
        each = "; ".join(f"{way}: {100 * value:.1f}" for way, value in f.items())
        report(
            f"ℹ Macro F1 of {self.name!r} over {counted(len(Y), 'held-out text')}, if "
            f"its encoder learns {each}. Another way than contrast is taken only if it "
            "makes the labels clearly likelier."
        )
        return best_of({way: likelihoods(x[tested], Y) for way, x in scores.items()})

    def learn(self, rows: Rows, probe: Layer, n_steps: int, way: str) -> None:
        """Train the encoder on some texts, from a probe of them."""
        width = self.model.get_ref("rows").get_dim("nO")
        length = np.linalg.norm(self.X[rows, -width:], axis=1).mean()
        start = length * probe[0][:, -width:], probe[1]
        some = [self.examples[i] for i in rows]
        learn_contrast(
            *(self.nlp, self.name, some, self.Y[rows], start, n_steps),
            share=_RATE_OF_HANDFUL if self.is_handful else _WAYS[way],
            by_contrast=way == "by contrast",
        )

    def refit(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Fit the last layer to some texts; return it, and the features of all."""
        trained = self.model.get_ref("text_vector")
        docs = [example.predicted for example in self.examples]
        X = features(self.nlp, self.name, docs, trained=trained)
        # Cross-validation cannot choose it: the encoder has seen these texts.
        strength = _STRENGTH_OF_HANDFUL if self.is_handful else _STRENGTH
        Z, axes = reduced(X[rows], one_scale=self.is_handful)
        return *fit_layer(X[rows], Z, axes, self.Y[rows], strength, exclusive=True), X


def likelihoods(scores: Floats, Y: Floats) -> Floats:
    """Return that of each label at the best scale: it is no loss to be too sure."""
    x, targets = torch.from_numpy(scores), torch.from_numpy(Y)
    scaled = [-cross_entropy(scale * x, targets, exclusive=True) for scale in _SCALES]
    return max((each.numpy() for each in scaled), key=np.mean)


def best_of(ways: dict[str, Floats]) -> str:
    """Return the first way, unless another is better by more than a standard error."""
    best = next(iter(ways))
    for way, likely in ways.items():
        gain = likely - ways[best]
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best = way
    return best


def set_output(
    model: Model[Any, Any], W: Floats, b: Floats, share: float = 1.0
) -> None:
    """Set the weights and biases of a classifier's last layer, or a share of them."""
    output = model.get_ref("output_layer")
    for key, value in (("W", W), ("b", b)):
        array: Any = share * value
        output.set_param(key, cast(Any, model.ops.asarray(array, dtype="f")))


def features(
    nlp: Language, name: str, docs: list[Doc], trained: Model[Any, Any] | None = None
) -> Floats:
    """Return what the last layer gets, with zeros for what random weights pool."""
    component: Any = nlp.get_pipe(name)
    model: Model[Any, Any] = component.model
    rows, pooled = model.get_ref("rows"), model.get_ref("pooled")
    stream: Any = docs
    # With those that are frozen, which spaCy disables meanwhile.
    before: Any = takewhile(lambda x: x[0] != name, nlp.components)
    for _, pipe in before:
        is_function = not hasattr(pipe, "pipe")
        how = {} if is_function else {"batch_size": nlp.batch_size}
        stream = map(pipe, stream) if is_function else pipe.pipe(stream, **how)
    parts = [pooled.predict(rows.predict(b)) for b in minibatch(stream, nlp.batch_size)]
    X: Floats = model.ops.to_numpy(model.ops.xp.concatenate(parts))
    width = rows.get_dim("nO")
    for i, layer in enumerate(pooled.layers if X.shape[1] > width else [pooled]):
        if layer.name in ("span_pool", "text_pool") and layer is not trained:
            X[:, i * width : (i + 1) * width] = 0.0
    return X
