"""What several rooms share: names, extras, files, pipelines and GPUs."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from ..errors import ExtraError

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
# Which extra brings what, as setup.cfg says too.
EXTRAS = {
    "scipy": "experiments",
    "accelerate": "pretrain",
    "spacy-transformers": "spacy-transformers",
    "ray": "ray",
}


def require(feature: str, *packages: str) -> None:
    """Raise if a package of an extra is not installed.

    feature (str): What needs them, for the error: "Comparing pipelines".
    *packages (str): Names of EXTRAS.
    """
    for name in packages:
        with suppress(ValueError):  # something without a spec stands in its place
            if find_spec(name.replace("-", "_")) is not None:
                continue
        raise ExtraError(
            f"{feature} needs {name}, which is not installed: pip install "
            f'"spacy-spanft[{EXTRAS[name]}]"'
        )
