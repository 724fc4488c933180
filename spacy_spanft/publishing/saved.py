"""Pipelines as files: the folder that `spacy train` writes, or a wheel of one."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from confection import Config
from packaging.requirements import InvalidRequirement
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from spacy.schemas import ModelMetaSchema, validate
from spacy.util import load_config

from ..errors import Errors, SpanftError, shown
from ..errors.visible import visible
from ..util._compat import third_party_requirements
from ..util.facts import read_text, to_object
from ..util.pipelines import load

_META, _CONFIG = "meta.json", "config.cfg"


class Saved:
    """A pipeline as files."""

    def __init__(
        self,
        folder: Path,
        requirements: list[str] | None = None,
        wheel: Path | None = None,
    ) -> None:
        """Read what its files say.

        folder (Path): Its folder.
        requirements (Optional[list[str]]): The packages that it needs; None for those
            in meta.json.
        wheel (Optional[Path]): The wheel that the folder is from.
        """
        self.folder = folder
        self.wheel = wheel
        path = folder / _META
        self.meta = to_object(path, read_text(path))
        if errors := validate(ModelMetaSchema, self.meta):
            reason = "; ".join(str(error) for error in errors)
            raise SpanftError(Errors.BAD_META.format(path=str(path), reason=reason))
        self.config: Config = load_config(folder / _CONFIG, interpolate=True)
        self.requirements: list[str] = requirements or self.meta.get("requirements", [])

    @cached_property
    def name(self) -> str:
        """Its name, with the language before it, as `spacy package` makes it."""
        lang, name = self.meta["lang"], self.meta["name"]
        return visible(name if name.startswith(f"{lang}_") else f"{lang}_{name}")

    @property
    def components(self) -> dict[str, dict[str, Any]]:
        """The settings of its components."""
        found = self.config.get("components", {})
        names = [name for name in self.config["nlp"]["pipeline"] if name in found]
        return {name: found[name] for name in names}

    def files(self) -> dict[str, Path]:
        """Find its files.

        RETURNS (dict[str, Path]): Their names, as paths below its folder; hidden ones
            are left out.
        """
        found = {
            path.relative_to(self.folder).as_posix(): path
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }
        return {
            name: path
            for name, path in found.items()
            if not any(part.startswith(".") for part in name.split("/"))
        }


@contextmanager
def opened(model: str) -> Iterator[Saved]:
    """Read a pipeline.

    model (str): The pipeline, by name or path; or a wheel that `spacy package` built.
    YIELDS (Saved): The pipeline. The files of a wheel are there until the end.
    """
    if not model.endswith(".whl"):
        nlp = load(model, -1)
        if nlp.path is None:
            reason = "it has no folder."
            raise SpanftError(Errors.NO_MODEL.format(name=model, reason=reason))
        spacy_itself = f"spacy{nlp.meta['spacy_version']}"
        try:  # what spacy package will require as well
            others = third_party_requirements(nlp)
        except InvalidRequirement as error:
            text = {"path": str(nlp.path / _META), "reason": shown(str(error))}
            raise SpanftError(Errors.BAD_META.format(**text)) from error
        yield Saved(nlp.path, [*others, spacy_itself])
        return
    with TemporaryDirectory() as folder:
        yield Saved(_unpack(Path(model), Path(folder)), wheel=Path(model))


def _unpack(wheel: Path, folder: Path) -> Path:
    """Unpack a wheel, and find the folder of the pipeline in it."""
    try:
        parse_wheel_filename(wheel.name)
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)
    except (OSError, InvalidWheelFilename, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = {"path": str(wheel), "reason": reason}
        raise SpanftError(Errors.BAD_WHEEL.format(**text)) from error
    found = [path.parent for path in folder.glob(f"*/*/{_CONFIG}")]
    if len(found) != 1 or not (found[0] / _META).is_file():
        reason = "there is no pipeline in it"
        raise SpanftError(Errors.BAD_WHEEL.format(path=str(wheel), reason=reason))
    return found[0]
