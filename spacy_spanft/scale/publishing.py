"""Model cards, of what the files of a pipeline say, and uploads to the hub."""

import json
import re
from pathlib import Path
from shlex import quote

from huggingface_hub import EvalResult, ModelCard, ModelCardData
from spacy.cli.package import generate_readme
from spacy.util import dot_to_object, walk_dict

from .. import NgramDictionary, default_dictionary
from ..errors import SpanftError, reported, visible
from ..util import SEGMENTER
from ..util.gpu import CPU
from ..util.pipelines import load
from .saved_pipeline import Saved, read_saved

UNKNOWN = "not recorded"
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
# Licenses that the hub knows; others are "other".
_LICENSES = """
    mit apache-2.0 bsd-2-clause bsd-3-clause mpl-2.0 gpl-2.0 gpl-3.0 lgpl-3.0 agpl-3.0
    cc0-1.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-4.0 cc-by-nc-sa-4.0 unlicense
"""
_TEXTS, _TOKENS = "text-classification", "token-classification"
# Of each factory: the hub's word, what it does, and code that shows it.
_NER = _TOKENS, "finds entities", "[(ent.text, ent.label_) for ent in doc.ents]"
_SPANS = "[(span.text, span.label_) for span in doc.spans[{key!r}]]"
_SPANCAT = _TOKENS, "finds spans, which may overlap", _SPANS
_TASKS = {
    "textcat": (_TEXTS, "chooses a label for each text", "doc.cats"),
    "textcat_multilabel": (_TEXTS, "gives texts any number of labels", "doc.cats"),
    "text_regressor": (_TEXTS, "gives each text a score", "doc.cats"),
    "ner": _NER,
    "bilou_ner": _NER,
    "spancat": _SPANCAT,
    "spancat_singlelabel": _SPANCAT,
    "tagger": (_TOKENS, "tags tokens", "[(t.text, t.tag_) for t in doc]"),
}


def push(
    model: str, repo: str, *, private: bool = False, message: str | None = None
) -> str:
    """Upload a pipeline to the Hugging Face hub, in one commit.

    It gets a model card, unless its author wrote a README.md. Hidden files stay here,
    and so do links, which could lead to anything; those of the pipeline are refused.

    model (str): The pipeline, by name or path.
    repo (str): The repository, USER/NAME, which is created if necessary.
    RETURNS (str): The address of its page.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    api, saved = HfApi(), read_saved(model)
    load(str(saved.folder), CPU)  # for the errors of what is damaged
    files: dict[str, bytes | Path] = {}
    own = {"config.cfg", "meta.json", "tokenizer", "vocab", *saved.components}
    for path in sorted(saved.folder.rglob("*")):
        name = path.relative_to(saved.folder).as_posix()
        if path.is_symlink() and name.partition("/")[0] in own:
            raise SpanftError(f"{str(path)!r} is a link. Push a copy without links.")
        is_plain = path.is_file() and not path.is_symlink()
        if is_plain and "/." not in f"/{name}":
            files[name] = path
    message = message or f"Upload {saved.name} {saved.meta['version']}"
    refused = f"The Hugging Face hub ({api.endpoint}) did not accept {repo!r} (are you "
    refused += "online, and logged in to write there, by `hf auth login` or HF_TOKEN?)"
    with reported(refused, Exception):  # the HTTP library depends on the hub's version
        url = api.create_repo(repo, private=private or None, exist_ok=True)
        if private and not api.model_info(repo).private:
            raise SpanftError(
                f"{repo!r} already exists, and anybody can see it. Make it private."
            )
    files["README.md"] = _readme_of(saved, url.repo_id).encode()
    with reported(refused, Exception):
        changes = [CommitOperationAdd(*named) for named in files.items()]
        api.create_commit(url.repo_id, changes, commit_message=message)
    return str(url)


def _readme_of(saved: Saved, repo: str) -> str:
    """Return the README.md that the author wrote, with metadata, or a model card."""
    path = saved.folder / "README.md"
    with reported(f"{path} is not UTF-8 text", UnicodeError):
        text = path.read_text("utf8") if path.is_file() else ""
    if text in ("", generate_readme(saved.meta)):
        return model_card(saved, repo)
    has_metadata = text.startswith("---")
    return text if has_metadata else f"---\n{card_data(saved).to_yaml()}\n---\n{text}"


def model_card(saved: Saved, repo: str | None = None) -> str:
    """Write the model card of a pipeline.

    repo (Optional[str]): Its repository on the hub, for the code that loads it.
    RETURNS (str): Markdown, with YAML at the top.
    """
    card = ModelCard.from_template(
        card_data(saved),
        template_path=str(Path(__file__).parent / "card.md.jinja"),
        md=lambda text: visible(str(text)).replace("|", "\\|"),  # in a table
        sh=quote,
        py=json.dumps,
        saved=saved,
        meta=saved.meta,
        repo=repo,
        tasks=_tasks_of(saved),
        scores=scores_of(saved),
        encoders=encoders_of(saved),
        is_on_hub=is_on_hub,
        without_folders=_without_folders,
        segmentations=_segmentations_of(saved),
        train=data_of(saved, "train"),
        dev=data_of(saved, "dev"),
    )
    return f"{str(card).rstrip()}\n"


def card_data(saved: Saved) -> ModelCardData:
    """Return what the hub reads at the top of a model card."""
    tags = list(dict.fromkeys(tag for tag, _, _ in _tasks_of(saved)))
    dev = data_of(saved, "dev")
    results = [
        EvalResult(
            task_type=_TEXTS if name.startswith("cats_") else _TOKENS,
            dataset_type="custom",
            dataset_name=visible(dev),
            metric_type=visible(name),
            metric_name=visible(name),
            metric_value=value,
        )
        for name, value in scores_of(saved).items()
    ]
    lang, license = saved.meta["lang"], saved.meta.get("license") or ""
    license = re.sub(r"[^a-z0-9.]+", "-", license.lower()).strip("-")
    is_known = license in _LICENSES.split()
    encoders = [name for name in encoders_of(saved).values() if is_on_hub(name)]
    return ModelCardData(
        language="multilingual" if lang == "xx" else lang,
        license=license if is_known else "other" if license else None,
        license_name=None if is_known else license or None,
        library_name="spacy",
        pipeline_tag=tags[0] if tags else None,
        tags=["spacy", *tags],
        base_model=encoders or None,
        model_name=saved.name if results else None,
        eval_results=results or None,
    )


def _tasks_of(saved: Saved) -> list[tuple[str, str, str]]:
    tasks = [
        (*_TASKS[factory][:2], _TASKS[factory][2].format(key=block.get("spans_key")))
        for block in saved.components.values()
        if (factory := block.get("factory", "")) in _TASKS
    ]
    return list(dict.fromkeys(tasks))


def scores_of(saved: Saved) -> dict[str, float]:
    """Return the scores in meta.json.

    spaCy also writes 0 for what nothing computed, so a 0 counts only if the config
    gives it a weight. Without any weight, the scores are of texts that were trained on.
    """
    weights = saved.config.get("training", {}).get("score_weights", {})
    if not any(weights.values()):
        return {}
    return {
        name: value
        for name, value in saved.meta.get("performance", {}).items()
        if isinstance(value, int | float) and not name.endswith(("_loss", "speed"))
        if value or weights.get(name)
    }


def encoders_of(saved: Saved) -> dict[str, str]:
    """Return the encoder of each component whose architecture names one."""
    encoders = {}
    for component, settings in saved.components.items():
        values = {tuple(path): value for path, value in walk_dict(settings)}
        for (*block, key), name in values.items():
            is_named = (*block, "@architectures") in values
            if key == "name" and is_named and isinstance(name, str):
                encoders[component] = name
    return encoders


def is_on_hub(name: str) -> bool:
    """Whether the name of an encoder is that of one on the hub, and no folder here."""
    return bool(_HUB_NAME.fullmatch(name)) and not Path(name).exists()


def _without_folders(name: str) -> str:
    """Return a name or path without the folders of the machine that it was on."""
    return Path(name).name if Path(name).is_absolute() else name


def _segmentations_of(saved: Saved) -> dict[str, dict[str, str]]:
    """Return the segmenter of each component, and the facts of its dictionary."""
    segmentations = {}
    for name, block in saved.components.items():
        if block.get("factory") != SEGMENTER:
            continue
        segmentations[name] = rows = {"segmenter": block["segmenter"]["@segmenters"]}
        path = saved.folder / name / "segmenter" / "dictionary.tsv.gz"
        if path.is_file():
            dictionary = NgramDictionary.from_disk(path)
            is_default = dictionary == default_dictionary()
            rows["n-grams"] = f"{len(dictionary):,}"
            sources = map(_without_folders, dictionary.provenance.sources)
            rows["source"] = ", ".join(sources) or UNKNOWN
            rows["tokens counted"] = f"{dictionary.provenance.n_tokens:,}"
            licensed = "MIT (n-grams and counts only)"
            rows["license"] = licensed if is_default else UNKNOWN
    return segmentations


def data_of(saved: Saved, part: str) -> str:
    """Return what the config names as the data of "train" or "dev"."""
    try:
        corpus = str(saved.config["training"][f"{part}_corpus"])
        block = dot_to_object(saved.config, corpus)
    except KeyError:
        return UNKNOWN
    outer = block if isinstance(block, dict) else {}
    inner = outer.get("corpus", outer)  # of a corpus that holds some rows out
    name = inner.get("name", inner.get("path"))
    if not isinstance(name, str):
        return UNKNOWN
    if not isinstance(share := outer.get("share"), float):
        return _without_folders(name)
    share = share if outer.get("part") == "dev" else 1 - share
    return f"{share:.0%} of {_without_folders(name)}"
