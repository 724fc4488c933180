"""Names that several rooms share."""

SEGMENTER = "span_segmenter"
# A group of spans carries the name of who wrote it.
WRITER = "spacy_spanft.written_by"
SAMPLE = "the initialization of a model"
