"""What several rooms share: names, extras, files, pipelines and GPUs."""

from importlib.metadata import version
from importlib.util import find_spec

from ..errors import SpanftError

__title__ = "spacy-spanft"
__version__ = version(__title__)
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
# Which extra brings what, as setup.cfg says too.
EXTRAS = {
    "scipy": "experiments",
    "accelerate": "pretrain",
    "spacy-transformers": "spacy-transformers",
    "ray": "ray",
}


def require(feature: str, package: str) -> None:
    """Raise if a package of an extra is not installed, which a feature needs."""
    if find_spec(package.replace("-", "_")) is None:
        raise SpanftError(
            f"{feature} needs {package}, which is not installed: pip install "
            f'"spacy-spanft[{EXTRAS[package]}]"'
        )
