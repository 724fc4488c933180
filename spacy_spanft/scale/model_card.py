"""The model card of a pipeline: what its files say, and nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.util import dot_to_object

from .. import NgramDictionary, default_dictionary
from ..errors import visible
from ..util import SEGMENTER
from ..util._compat import readme_of_spacy
from .saved_pipeline import Saved

if TYPE_CHECKING:
    from huggingface_hub import ModelCardData

UNKNOWN = "not recorded"
# Signs that mean something within a line, and underscores that are not inside a word.
_SIGNS = re.compile(r"[\\`*|~#\[\]$&<>]|(?<![^\W_])_|_(?![^\W_])")
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
# Licenses that the hub knows by the names that people write; others are "other".
_LICENSES = """
    mit apache-2.0 bsd-2-clause bsd-3-clause mpl-2.0 gpl-2.0 gpl-3.0 lgpl-3.0 agpl-3.0
    cc0-1.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-4.0 cc-by-nc-sa-4.0 unlicense
"""
# The hub's names of metrics, by the end of spaCy's.
_METRICS = {
    **{"f": "f1", "f1": "f1", "p": "precision", "r": "recall", "auc": "roc_auc"},
    **{"acc": "accuracy", "accuracy": "accuracy", "matthews": "matthews_correlation"},
    **{"pearson": "pearsonr", "spearman": "spearmanr"},
}


class Task(NamedTuple):
    """What a component does: the hub's word, a clause, and code that shows it."""

    tag: str
    clause: str
    code: str


_TEXTS, _TOKENS = "text-classification", "token-classification"
_NER = Task(_TOKENS, "finds entities", "[(ent.text, ent.label_) for ent in doc.ents]")
_SPANCAT = Task(
    _TOKENS,
    "finds spans, which may overlap",
    "[(span.text, span.label_) for span in doc.spans[{key!r}]]",
)
_TASKS = {
    "textcat": Task(_TEXTS, "chooses a label for each text", "doc.cats"),
    "textcat_multilabel": Task(_TEXTS, "gives texts any number of labels", "doc.cats"),
    "text_regressor": Task(_TEXTS, "gives each text a score", "doc.cats"),
    "ner": _NER,
    "bilou_ner": _NER,
    "spancat": _SPANCAT,
    "spancat_singlelabel": _SPANCAT,
    "tagger": Task(_TOKENS, "tags tokens", "[(t.text, t.tag_) for t in doc]"),
}


class Named(NamedTuple):
    """An encoder or data, without the folders of the machine that it was on."""

    name: str
    on_hub: bool = False


def model_card(saved: Saved, repo: str | None = None) -> str:
    """Write the model card of a pipeline.

    repo (Optional[str]): Its repository on the hub, for the code that loads it.
    RETURNS (str): Markdown, with YAML at the top.
    """
    from huggingface_hub import ModelCard

    card = ModelCard.from_template(
        card_data(saved),
        template_path=str(Path(__file__).parent / "card.md.jinja"),
        md=_markdown,
        sh=lambda word: quote(visible(word)),
        py=lambda text: ascii(text) if visible(text) != text else json.dumps(text),
        saved=saved,
        meta=saved.meta,
        repo=repo,
        tasks=tasks_of(saved),
        scores=scores_of(saved),
        encoders=encoders_of(saved),
        segmentations=_segmentations_of(saved),
        train=data_of(saved, "train"),
        dev=data_of(saved, "dev"),
    )
    return str(card)


def readme_of(saved: Saved, repo: str) -> str:
    """Return the README.md that the author wrote, with metadata, or a model card."""
    path = saved.folder / "README.md"
    if not path.is_file():
        return model_card(saved, repo)
    text = path.read_text("utf8", "replace")
    if text == readme_of_spacy(saved.meta):
        return model_card(saved, repo)
    if re.match(r"---\r?\n.*?\n---", text, re.DOTALL):
        return text
    return f"---\n{card_data(saved).to_yaml()}\n---\n{text}"


def card_data(saved: Saved) -> "ModelCardData":
    """Return what the hub reads at the top of a model card."""
    from huggingface_hub import EvalResult, ModelCardData

    tags = list(dict.fromkeys(task.tag for task in tasks_of(saved)))
    train, dev = data_of(saved, "train"), data_of(saved, "dev")
    encoders = encoders_of(saved).values()
    results = [
        EvalResult(
            task_type=_TEXTS if name.startswith("cats_") else _TOKENS,
            dataset_type=dev.name if dev.on_hub else "custom",
            dataset_name=dev.name,
            metric_type=_METRICS[end],
            metric_name=name,
            metric_value=value,
        )
        for name, value in scores_of(saved).items()
        if (end := name.rpartition("_")[2]) in _METRICS
    ]
    lang, license = saved.meta["lang"], _slug(saved.meta.get("license") or "")
    is_known = license in _LICENSES.split()
    return ModelCardData(
        language="multilingual" if lang == "xx" else lang,
        license=license if is_known else "other" if license else None,
        license_name=None if is_known else license or None,
        library_name="spacy",
        pipeline_tag=tags[0] if tags else None,
        tags=["spacy", *tags],
        datasets=sorted({data.name for data in (train, dev) if data.on_hub}) or None,
        base_model=[named.name for named in encoders if named.on_hub] or None,
        model_name=saved.name if results else None,
        eval_results=results or None,
    )


def _slug(license: str) -> str:
    slug = re.sub(r"[^a-z0-9.]+", "-", license.lower()).strip("-")
    return slug.removeprefix("gnu-").removesuffix("-license")


def tasks_of(saved: Saved) -> list[Task]:
    """Return what the components do, each task once."""
    tasks = [
        task._replace(code=task.code.format(key=block.get("spans_key")))
        for block in saved.components.values()
        if (task := _TASKS.get(block.get("factory", ""))) is not None
    ]
    return list(dict.fromkeys(tasks))


def scores_of(saved: Saved) -> dict[str, float]:
    """Return the scores in meta.json. spaCy also writes 0 for what nothing computed.

    So a score of 0 is one only if the config gives it a weight.
    """
    weights = saved.config.get("training", {}).get("score_weights", {})
    return {
        name: value
        for name, value in saved.meta.get("performance", {}).items()
        if isinstance(value, int | float) and not name.endswith(("_loss", "speed"))
        if value or weights.get(name)
    }


def encoders_of(saved: Saved) -> dict[str, Named]:
    """Return the encoder of each component whose architecture names one."""
    return {
        component: _named(block["name"], may_be_on_hub=True)
        for component, settings in saved.components.items()
        for block in _blocks(settings)
        if "@architectures" in block and isinstance(block.get("name"), str)
    }


def _blocks(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield settings
    for value in settings.values():
        if isinstance(value, dict):
            yield from _blocks(value)


def _named(name: str, may_be_on_hub: bool) -> Named:
    is_local = Path(name).exists() or not _HUB_NAME.fullmatch(name)
    shown = Path(name).name if Path(name).is_absolute() else name
    return Named(visible(shown), may_be_on_hub and not is_local)


def _segmentations_of(saved: Saved) -> dict[str, dict[str, str]]:
    """Return the segmenter of each component, and the facts of its dictionary."""
    segmentations = {}
    for name, block in saved.components.items():
        if block.get("factory") == SEGMENTER:
            rows = {"segmenter": block["segmenter"]["@segmenters"]}
            path = saved.folder / name / "segmenter" / "dictionary.tsv.gz"
            if path.is_file():
                dictionary = NgramDictionary.from_disk(path)
                is_default = dictionary == default_dictionary()
                rows["n-grams"] = f"{len(dictionary):,}"
                rows["source"] = ", ".join(dictionary.provenance.sources) or UNKNOWN
                rows["tokens counted"] = f"{dictionary.provenance.n_tokens:,}"
                rows["license"] = (
                    "MIT (n-grams and counts only)" if is_default else UNKNOWN
                )
            segmentations[name] = rows
    return segmentations


def data_of(saved: Saved, part: str) -> Named:
    """Return what the config names as the data of "train" or "dev"."""
    try:
        corpus = str(saved.config["training"][f"{part}_corpus"])
        block = dot_to_object(saved.config, corpus)
    except KeyError:
        return Named(UNKNOWN)
    outer = block if isinstance(block, dict) else {}
    inner = outer.get("corpus", outer)  # of a corpus that holds some rows out
    name = inner.get("name", inner.get("path"))
    if not isinstance(name, str):
        return Named(UNKNOWN)
    named = _named(name, may_be_on_hub="name" in inner)
    if isinstance(share := outer.get("share"), float):
        share = share if outer.get("part") == "dev" else 1 - share
        named = named._replace(name=f"{share:.0%} of {named.name}")
    return named


def _markdown(text: Any) -> str:
    """Return a text so that Markdown shows it as it is, in a cell of a table, too."""
    return _SIGNS.sub(r"\\\g<0>", visible(str(text)))
