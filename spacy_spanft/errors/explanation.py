"""Messages of errors: what cannot be explained."""

from .shortening import shortened


@shortened
class ExplanationErrors:
    """Messages with named gaps, filled with `str.format`."""

    NO_SPAN_CLASSIFIER = (
        "No component of this pipeline can be explained. Those that can are textcat, "
        "textcat_multilabel and text_regressor with spacy-spanft.SpanTextCat.v1, "
        "bilou_ner, and spancat."
    )
    NO_CLASSIFIER = (
        "{name!r} is not a component that can be explained. This pipeline has: "
        "{there}. Use textcat, textcat_multilabel or text_regressor with "
        "spacy-spanft.SpanTextCat.v1, bilou_ner, or spancat."
    )
    CANNOT_EXPLAIN = (
        "What each span adds is not known with {pooling!r}: it is with CnnPooling.v1, "
        "MaxPooling.v1, AttentionPooling.v1 and thinc's own reductions as doc_pooling."
    )
    CANNOT_EXPLAIN_LAYER = (
        "What each token adds is not known with the layer {layer!r}: it is with "
        "spacy-spanft.BilouTagger.v1 in bilou_ner; and in spancat, whose architecture "
        "must be spacy.SpanCategorizer.v1, with spacy.mean_max_reducer.v1, "
        "spacy-spanft.BoundaryAttentionReducer.v1 and thinc's own reductions as "
        "reducer, and with spacy-spanft.LinearCrossEntropy.v1 and "
        "spacy.LinearLogistic.v1 as scorer."
    )
    PHRASES_OF_TEXTS = (
        "Phrases are listed for the labels of texts, and this component labels spans. "
        "Use textcat, textcat_multilabel or text_regressor with "
        "spacy-spanft.SpanTextCat.v1."
    )
