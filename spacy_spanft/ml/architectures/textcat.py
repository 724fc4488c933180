"""Text classification over spans, and its baseline without them."""

from functools import partial
from typing import Any, Literal, NamedTuple

from spacy.ml.models.textcat import resize_and_set_ref
from spacy.tokens import Doc
from thinc.api import Logistic, Model, chain, concatenate
from thinc.types import Floats2d, Ragged

from ...errors import SpanftError, shown
from ..alignment import check_spans_key
from ..layers.doc_summary import Summary
from ..layers.encoder_rows import encoder_rows
from ..layers.fixed_dropout import fixed_dropout
from ..layers.label_targets import ClassWeights, label_targets
from ..layers.pair_match import pair_match
from ..layers.pooling import Pooling
from ..layers.resizable_output import resizable_output
from ..layers.span_pool import span_pool
from ..layers.text_pool import text_pool
from ..layers.text_vector import text_vector
from ..layers.zeros_for_nothing import zeros_for_nothing
from ..pairs import check_separator

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
    dropout (float): The share of what is classified that is dropped in training;
        `[training] dropout` does not change it.
    max_pieces (Optional[int]): Keep only the first pieces of a Doc (the paper's r).
    max_rows (Optional[int]): Keep only the first rows of a piece (the paper's l).
    summary (Literal["cls", "mean"]): "mean" takes the mean of all wordpieces in the
        place of [CLS], as for encoders that have none (GPT-2, T5).
    pooler (bool): Whether [CLS] goes through a dense layer with tanh, as BERT's does
        in its next sentence prediction and in BertForSequenceClassification.
    pair_separator (Optional[str]): What stands between the two texts of a pair. How
        similar they are, as wholes and span by span, stands beside the other vectors;
        None compares nothing.
    class_weights (Optional[Union[Dict[str, float], List, Literal["balanced"]]]): How
        much each label counts in training, such as {"rare": 3.0} or [["rare", 3.0]];
        others count once.
        "balanced" counts the labels of the training data: the texts of each count
        together as much as those of any other, or, without `exclusive_classes`, as
        those that do not have it.
    label_smoothing (float): The share of each label that is spread over all of them in
        training, or, without `exclusive_classes`, over right and wrong.
    nO (Optional[int]): The number of labels.
    RETURNS (Model[List[Doc], Floats2d]): Docs to scores, (n_docs, n_labels).
    """
    check_spans_key(spans_key)
    if pooler and not use_cls:
        raise SpanftError(
            "use_cls = false leaves out the vector of the whole text, so that "
            f"{'pooler'} = {shown(pooler)} would change nothing. Leave out one of "
            "them."
        )
    if segmentation == "none":
        pool = text_pool(span_pooling, doc_pooling)
    else:
        pool = span_pool(span_pooling, doc_pooling, spans_key, max_pieces, max_rows)
    parts = [pool, text_vector(summary, pooler)] if use_cls else [pool]
    keys = (None, spans_key) if segmentation == "spans" else (None,)
    matches = _matches(pair_separator, *keys)
    scores = _scores(exclusive_classes, class_weights, label_smoothing, nO)
    return _classifier(tok2vec, parts, matches, scores, dropout)


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

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder.
    exclusive_classes (bool): Whether a text has exactly one label.
    dropout (float): The share of what is classified that is dropped in training;
        `[training] dropout` does not change it.
    summary (Literal["cls", "mean"]): "mean" takes the mean of all wordpieces in the
        place of [CLS], as for encoders that have none (GPT-2, T5).
    pooler (bool): Whether [CLS] goes through a dense layer with tanh, as BERT's does
        in its next sentence prediction and in BertForSequenceClassification.
    pair_separator (Optional[str]): What stands between the two texts of a pair. How
        similar they are stands beside [CLS]; None compares nothing.
    class_weights (Optional[Union[Dict[str, float], List, Literal["balanced"]]]): How
        much each label counts in training, such as {"rare": 3.0} or [["rare", 3.0]];
        others count once.
        "balanced" counts the labels of the training data: the texts of each count
        together as much as those of any other, or, without `exclusive_classes`, as
        those that do not have it.
    label_smoothing (float): The share of each label that is spread over all of them in
        training, or, without `exclusive_classes`, over right and wrong.
    nO (Optional[int]): The number of labels.
    RETURNS (Model[List[Doc], Floats2d]): Docs to scores, (n_docs, n_labels).
    """
    matches = _matches(pair_separator, None)
    parts = [text_vector(summary, pooler)]
    scores = _scores(exclusive_classes, class_weights, label_smoothing, nO)
    return _classifier(tok2vec, parts, matches, scores, dropout)


def _matches(separator: str | None, *keys: str | None) -> list[Model[Any, Floats2d]]:
    """Make the layers that compare the texts of a pair."""
    if separator is None:
        return []
    check_separator(separator)
    return [pair_match(separator, key) for key in keys]


class Scores(NamedTuple):
    """The last layers of a classifier.

    scores (Model[Floats2d, Floats2d]): All of them.
    output (Model[Floats2d, Floats2d]): That with the weights.
    growing (Model[Floats2d, Floats2d]): What holds it, which can be resized.
    exclusive (bool): Whether a text has exactly one label.
    """

    scores: Model[Floats2d, Floats2d]
    output: Model[Floats2d, Floats2d]
    growing: Model[Floats2d, Floats2d]
    exclusive: bool


def _scores(
    exclusive: bool, class_weights: ClassWeights, label_smoothing: float, nO: int | None
) -> Scores:
    """Make the layers that score each label."""
    output, growing = resizable_output(exclusive, nO)
    layers = [growing] if exclusive else [growing, Logistic()]
    if class_weights or label_smoothing:
        layers.append(label_targets(exclusive, class_weights, label_smoothing))
    scores = chain(*layers) if len(layers) > 1 else growing
    return Scores(scores, output, growing, exclusive)


def _classifier(
    tok2vec: Tok2Vec,
    parts: list[Model[Any, Floats2d]],
    matches: list[Model[Any, Floats2d]],
    last: Scores,
    dropout: float,
) -> TextCat:
    rows = encoder_rows(tok2vec)
    n_parts = len(parts) + len(matches)
    pooled = concatenate(*parts, *matches) if n_parts > 1 else parts[0]
    classified = zeros_for_nothing(chain(fixed_dropout(dropout), last.scores))
    model: Any = chain(rows, pooled, classified)
    model.init = partial(init, n_parts, len(matches))
    model.set_ref("rows", rows)
    model.set_ref("pooled", pooled)
    model.set_ref("scores", last.scores)
    model.set_ref("output_layer", last.output)
    resize = partial(resize_and_set_ref, resizable_layer=last.growing)
    model.attrs["resize_output"] = resize
    model.attrs["multi_label"] = not last.exclusive
    if matches:
        # Corpora compare it with their own.
        model.attrs["separator"] = matches[0].attrs["separator"]
    if (n_labels := last.output.maybe_get_dim("nO")) is not None:
        model.set_dim("nO", n_labels)
    return model


def init(
    n_parts: int,
    n_matches: int,
    model: TextCat,
    X: list[Doc] | None = None,
    Y: Floats2d | None = None,
) -> None:
    """Set up the model from the width of the encoder: no transformer needs to run."""
    rows, pooled, scores = map(model.get_ref, ("rows", "pooled", "scores"))
    rows.initialize(X=X)
    width = rows.get_dim("nO")
    ones = model.ops.asarray1i([1])
    row = Ragged(model.ops.alloc2f(1, width), ones)
    for part in pooled.layers if n_parts > 1 else [pooled]:
        part.initialize(X=row)
    features = model.ops.alloc2f(1, width * n_parts)
    if Y is not None and model.has_dim("nO") is None:
        model.set_dim("nO", Y.shape[1])
    scores.initialize(X=features, Y=Y)
    if n_matches:
        # Which label similar texts have is learned in a few steps; a random guess
        # would have to be unlearned.
        output = model.get_ref("output_layer")
        W: Any = output.get_param("W")
        W[:, -n_matches * width :] = 0.0
        output.set_param("W", W)
