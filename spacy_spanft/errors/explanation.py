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
        "A score cannot be traced to spans through the pooling {pooling!r}. As "
        "doc_pooling, use CnnPooling.v1, MaxPooling.v1, AttentionPooling.v1 or one of "
        "thinc's reductions."
    )
    CANNOT_EXPLAIN_LAYER = (
        "A score cannot be traced to tokens through the layer {layer!r}. In bilou_ner, "
        "use spacy-spanft.BilouTagger.v1. In spancat, use the architecture "
        "spacy.SpanCategorizer.v1, with spacy.mean_max_reducer.v1, "
        "spacy-spanft.BoundaryAttentionReducer.v1 or one of thinc's reductions as "
        "reducer, and with spacy-spanft.LinearCrossEntropy.v1 or "
        "spacy.LinearLogistic.v1 as scorer."
    )
    NOTHING_LEARNED = (
        "The component {name!r} has not been initialized, so it has no scores to "
        "explain. Train the pipeline, or load one that was trained."
    )
    PHRASES_OF_TEXTS = (
        "Phrases are listed for the labels of texts, and this component labels spans. "
        "Use textcat, textcat_multilabel or text_regressor with "
        "spacy-spanft.SpanTextCat.v1."
    )
