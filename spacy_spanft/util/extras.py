"""Packages that only some features need, installed as extras of this one."""

from importlib.util import find_spec

from ..errors import ExtraError

# Which extra brings what, as setup.cfg says too.
EXTRAS = {
    "scipy": "experiments",
    "matplotlib": "experiments",
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
        if not _is_installed(name):
            raise ExtraError(
                f"{feature} needs {name}, which is not installed: pip install "
                f'"spacy-spanft[{EXTRAS[name]}]"'
            )


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name.replace("-", "_")) is not None
    except ValueError:  # something without a spec stands in its place
        return False
