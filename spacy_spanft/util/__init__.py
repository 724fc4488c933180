"""What several rooms share: names, files, pipelines, GPUs, private names of others."""

from importlib.metadata import PackageNotFoundError, version

__title__ = "spacy-spanft"

try:
    __version__ = version(__title__)
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"

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
