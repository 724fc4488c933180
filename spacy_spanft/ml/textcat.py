"""Text classification over spans, and its baseline without them."""

from functools import partial
from typing import Any, Literal, cast

from spacy.ml.models.textcat import resize_and_set_ref
from spacy.tokens import Doc
from thinc.api import Logistic, Model, chain, concatenate
from thinc.types import Floats2d, Ragged

from ..errors import SpanftError
from .cross_entropy import ClassWeights, label_targets
from .layers.encoder_rows import Pool, encoder_rows
from .layers.pair_match import pair_match
from .layers.scoring import fixed_dropout, resizable_output, zeros_for_nothing
from .layers.sequences import Pooling
from .layers.span_pool import Summary, span_pool, text_pool, text_vector

Tok2Vec = Model[list[Doc], list[Floats2d]]
TextCat = Model[list[Doc], Floats2d]


def span_textcat(
    tok2vec: Tok2Vec,
    span_pooling: Pooling,
    doc_pooling: Pooling,
    exclusive_classes: bool,
    spans_key: str = "ngrams",
    segmentation: Literal["spans", "none"] = "spans",
    use_cls: bool = True,
    dropout: float = 0.1,
    max_pieces: int | None = None,
    max_rows: int | None = None,
    summary: Summary = "cls",
    pooler: bool = False,
    pair_separator: str | None = None,
    class_weights: ClassWeights = None,
    label_smoothing: float = 0.0,
    nO: int | None = None,
) -> TextCat:
    """Build `spacy-spanft.SpanTextCat.v1`: the pooled spans beside [CLS], classified.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder. Of a transformer the
        wordpieces are pooled and [CLS] is taken, of any other the tokens and their
        mean.
    span_pooling (Model[Ragged, Floats2d]): Pools the rows of each span.
    doc_pooling (Model[Ragged, Floats2d]): Pools the spans of each Doc.
    exclusive_classes (bool): Whether a text has exactly one label.
    spans_key (str): The key in doc.spans.
    segmentation (Literal["spans", "none"]): "none" is the paper's ablation: the windows
        of the span pooling go over the whole text, and no span is looked at.
    use_cls (bool): Whether [CLS] stands beside the pooled spans.
    dropout (float): The share of the classified vector that is dropped in training;
        `[training] dropout` does not change it.
    max_pieces (Optional[int]): Keep only the first pieces of a Doc (the paper's r).
    max_rows (Optional[int]): Keep only the first rows of a piece (the paper's l).
    summary (Literal["cls", "mean", "unit_mean"]): "mean" replaces [CLS] by the mean of
        all wordpieces, also for encoders that have none (GPT-2, T5); "unit_mean" makes
        its length 1.
    pooler (bool): Whether [CLS] goes through a dense layer with tanh, as BERT's does
        in its next sentence prediction and in BertForSequenceClassification.
    pair_separator (Optional[str]): The separator between the two texts of a pair. How
        similar they are, as wholes and span by span, stands beside the other vectors;
        None compares nothing.
    class_weights (Optional[Union[Dict[str, float], List, Literal["balanced"]]]): How
        much each label counts in training, such as {"rare": 3.0} or [["rare", 3.0]];
        others count once. With "balanced", the texts of each label count together as
        much as those of any other, or, without `exclusive_classes`, as those without.
    label_smoothing (float): The share of each label that is spread over all of them in
        training, or, without `exclusive_classes`, over right and wrong.
    nO (Optional[int]): The number of labels.
    """
    if pooler and not use_cls:
        raise SpanftError(
            "use_cls = false leaves out the vector of the whole text, so that pooler = "
            "true would change nothing. Leave out one of them."
        )
    if segmentation == "none":
        pool, matches = text_pool(span_pooling, doc_pooling), _matches(pair_separator)
    else:
        pool = span_pool(span_pooling, doc_pooling, spans_key, max_pieces, max_rows)
        matches = _matches(pair_separator, spans_key)
    parts = [pool, text_vector(summary, pooler)] if use_cls else [pool]
    targets = exclusive_classes, class_weights, label_smoothing
    return _classifier(tok2vec, parts, matches, dropout, *targets, nO)


def cls_textcat(
    tok2vec: Tok2Vec,
    exclusive_classes: bool,
    dropout: float = 0.1,
    summary: Summary = "cls",
    pooler: bool = False,
    pair_separator: str | None = None,
    class_weights: ClassWeights = None,
    label_smoothing: float = 0.0,
    nO: int | None = None,
) -> TextCat:
    """Build `spacy-spanft.ClsTextCat.v1`: [CLS] alone, all else alike.

    The settings are those of `spacy-spanft.SpanTextCat.v1`.

    pair_separator (Optional[str]): The separator between the two texts of a pair. How
        similar they are stands beside [CLS]; None compares nothing.
    """
    parts, matches = [text_vector(summary, pooler)], _matches(pair_separator)
    targets = exclusive_classes, class_weights, label_smoothing
    return _classifier(tok2vec, parts, matches, dropout, *targets, nO)


def _matches(separator: str | None, spans_key: str | None = None) -> list[Pool]:
    """Compare the texts of a pair as wholes, and span by span where there are spans."""
    if separator is None:
        return []
    keys = [None] if spans_key is None else [None, spans_key]
    return [pair_match(separator, key) for key in keys]


def _classifier(
    tok2vec: Tok2Vec,
    parts: list[Pool],
    matches: list[Pool],
    dropout: float,
    exclusive: bool,
    class_weights: ClassWeights,
    label_smoothing: float,
    nO: int | None,
) -> TextCat:
    """Concatenate the parts of the features, and score them."""
    output, growing = resizable_output(exclusive, nO)
    layers = [growing] if exclusive else [growing, Logistic()]
    if class_weights or label_smoothing:
        layers.append(label_targets(exclusive, class_weights, label_smoothing))
    scores = chain(*layers) if len(layers) > 1 else growing
    rows = encoder_rows(tok2vec)
    pooled = cast(Pool, concatenate(*parts, *matches))
    classified = zeros_for_nothing(chain(fixed_dropout(dropout), scores))
    model: Any = chain(rows, pooled, classified)
    model.init = init
    model.set_ref("rows", rows)
    model.set_ref("pooled", pooled)
    model.set_ref("scores", scores)
    model.set_ref("text_vector", parts[-1])  # without one, the pool
    model.set_ref("output_layer", output)
    model.attrs["resize_output"] = partial(resize_and_set_ref, resizable_layer=growing)
    model.attrs["multi_label"] = not exclusive
    if matches:  # corpora compare it with their own
        model.attrs["separator"] = matches[0].attrs["separator"]
    if nO is not None:
        model.set_dim("nO", nO)
    return model


def init(model: TextCat, X: list[Doc] | None = None, Y: Floats2d | None = None) -> None:
    """Set up the model from the width of the encoder: no transformer needs to run."""
    rows, pooled, scores = map(model.get_ref, ("rows", "pooled", "scores"))
    rows.initialize(X=X)
    parts = pooled.layers if "|" in pooled.name else [pooled]
    width = rows.get_dim("nO")
    row = Ragged(model.ops.alloc2f(1, width), model.ops.asarray1i([1]))
    for part in parts:
        part.initialize(X=row)
    features = model.ops.alloc2f(1, width * len(parts))
    if Y is not None and model.has_dim("nO") is None:
        model.set_dim("nO", Y.shape[1])
    scores.initialize(X=features, Y=Y)
    if n_matches := sum(part.name == "pair_match" for part in parts):
        # A random guess would have to be unlearned.
        output = model.get_ref("output_layer")
        W: Any = output.get_param("W")
        W[:, -n_matches * width :] = 0.0
        output.set_param("W", W)
