"""Pipelines as files: the folder that `spacy train` writes, or a package."""

from pathlib import Path
from typing import Any, NamedTuple

from confection import Config
from spacy.cli.package import get_third_party_dependencies
from spacy.language import Language
from spacy.util import get_package_path, load_config, load_meta, split_requirement

from ..configs.adding import PAIR_TOKENIZER
from ..errors import SpanftError, reported, visible
from ..ml.pairs import SEPARATOR
from ..util.pipelines import check_pipeline


class Saved(NamedTuple):
    """The files of a pipeline, of which no code is run."""

    folder: Path
    meta: dict[str, Any]
    config: Config

    @property
    def name(self) -> str:
        """The name after the language, as `spacy package` makes it."""
        lang, name = self.meta["lang"], self.meta["name"]
        return visible(name if name.startswith(f"{lang}_") else f"{lang}_{name}")

    @property
    def components(self) -> dict[str, dict[str, Any]]:
        """The settings of the components, in their order."""
        blocks = self.config["components"]
        return {name: blocks[name] for name in self.config["nlp"]["pipeline"]}

    @property
    def separator(self) -> str | None:
        """The separator of a pipeline for pairs of texts."""
        tokenizer = self.config["nlp"]["tokenizer"]
        is_for_pairs = tokenizer["@tokenizers"] == PAIR_TOKENIZER
        return tokenizer.get("separator", SEPARATOR) if is_for_pairs else None

    @property
    def requirements(self) -> list[str]:
        """The packages that it needs, as `spacy package` finds them."""
        Language()  # registers spaCy's own factories
        required = list(self.meta.get("requirements", []))
        names = [split_requirement(requirement)[0] for requirement in required]
        others = sorted(get_third_party_dependencies(self.config, exclude=names))
        return [*required, *others, f"spacy{self.meta['spacy_version']}"]


def read_saved(model: str) -> Saved:
    """Read the files of a pipeline, by its name or path."""
    check_pipeline(model)
    if model.startswith("blank:"):
        raise SpanftError(f"{model!r} has no files, and predicts nothing.")
    root = Path(model) if Path(model).is_dir() else get_package_path(model)
    # Of a package, the pipeline is in a folder inside.
    configs = sorted(root.rglob("config.cfg"), key=lambda path: len(path.parts))
    message = f"{model!r} has no meta.json and config.cfg that can be read"
    with reported(message, IndexError, OSError, ValueError):
        folder = configs[0].parent
        meta = load_meta(folder / "meta.json")
        config = load_config(folder / "config.cfg", interpolate=True)
    return Saved(folder, meta, config)
