"""Name and version of the package, readable without importing anything heavy."""

from importlib.metadata import PackageNotFoundError, version

__title__ = "spacy-spanft"

try:
    __version__ = version(__title__)
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"
