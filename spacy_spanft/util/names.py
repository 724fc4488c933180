"""Names that several rooms share."""

SEGMENTER = "span_segmenter"
# A group of spans carries the name of who wrote it.
WRITER = "spacy_spanft.written_by"
SAMPLE = "the initialization of a model"
# What looks at spans in a model, as configs name it.
SPAN_BLOCKS = (
    "spacy-spanft.SpanTextCat.v1",
    "spacy-spanft.SpanTok2Vec.v1",
    "spacy-spanft.SpanTok2Vec.v2",
)
