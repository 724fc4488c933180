"""A probe: the last layer of a classifier, fitted to the vectors of a frozen encoder.

Fine-tuning that starts from one keeps more of what the encoder knows (Kumar et al.,
2022, "Fine-Tuning can Distort Pretrained Features"), which counts with few texts.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example

from ..errors import counted, report
from ..ml.parameter_groups import models
from .contrast import HANDFUL, check_contrast
from .logistic import fit_probe, macro_f
from .tuning import Tuning, features, set_output

# A classifier of few texts is sure of each: too sure for the encoder to learn anything.
# What tells pairs apart, scores, and a handful of texts, is mostly known, and stays.
SHRUNK_TO = 0.2
# Of more texts, a sample is fitted; `init` lets up to so many start from a probe.
MOST_TEXTS = 2000


def start_from_probes(
    nlp: Language, examples: Sequence[Example], contrast: int = 0
) -> None:
    """Fit the last layer of each text classifier, and print how good it is.

    The cross-validated score is kept in `nlp.meta["probe"]`, as a floor for the rest.
    """
    for name, model in models(nlp).items():
        if not {"pooled", "output_layer"} <= set(model.ref_names):
            continue
        component: Any = nlp.get_pipe(name)
        exclusive = not model.attrs["multi_label"]
        labels = component.labels  # others may be another component's
        all_cats = [(eg, eg.reference.cats) for eg in examples]
        labeled = [
            eg
            for eg, cats in all_cats
            if (any(map(cats.get, labels)) if exclusive else {*labels} <= {*cats})
        ]
        if len(labeled) > MOST_TEXTS:
            labeled = Random(0).sample(labeled, MOST_TEXTS)
        if len(labeled) < 2:
            continue
        is_scored, is_pair = hasattr(component, "low"), "separator" in model.attrs
        if contrast:  # before the features are computed
            check_contrast(nlp, name)
        cats = [eg.reference.cats for eg in labeled]
        Y = np.array([[c.get(x, 0.0) for x in labels] for c in cats], "f")
        if is_scored:  # how far from low to high
            Y = (Y - component.low) / (component.high - component.low)
        X = features(nlp, name, [eg.predicted for eg in labeled])
        texts = [eg.reference.text for eg in labeled]
        W, b, predictions = fit_probe(X, Y, texts, exclusive=exclusive)
        is_whole = is_scored or is_pair or contrast > 0 or len(labeled) <= HANDFUL
        set_output(model, W, b, 1.0 if is_whole else SHRUNK_TO)
        if is_scored:
            pairs = predictions[:, 0], Y[:, 0]
            metric, score = "correlation", np.nan_to_num(np.corrcoef(*pairs)[0, 1])
        else:
            metric, score = "macro F1", macro_f(predictions, Y, exclusive)
        nlp.meta.setdefault("probe", {})[name] = {metric: round(float(score), 4)}
        report(
            f"ℹ {name!r} starts from a linear probe of the encoder: {metric} "
            f"{100 * score:.1f} in cross-validation over "
            f"{counted(len(labeled), 'training text')}."
        )
        if contrast:
            Tuning(nlp, name, labeled, X, Y).run((W, b), score, contrast)
