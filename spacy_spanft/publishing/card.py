"""The model card of a pipeline: what its files say, and nothing else."""

import json
import re
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from ..errors.visible import visible
from ..experiments.report.escaping import markdown
from . import facts
from .saved import Saved
from .scores import Score, eval_results, label_scores_of, scores_of

_TEMPLATE = "card.md.jinja"
_PAIRS = "spacy-spanft.PairTokenizer.v1"
_MOST_LABELS = 100
# Those that the hub knows by the name that people write; any other one is "other".
_LICENSES = frozenset(
    """
    mit apache-2.0 bsd-2-clause bsd-3-clause mpl-2.0 gpl-2.0 gpl-3.0 lgpl-3.0 agpl-3.0
    cc0-1.0 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-4.0 cc-by-nc-sa-4.0
    cc-by-nd-4.0 cc-by-nc-nd-4.0 unlicense
    """.split()  # noqa: SIM905
)


class Task(NamedTuple):
    """What a component does.

    tag (str): What the hub calls it.
    what (str): The same in words.
    shown (str): The Python expression that shows what it found.
    """

    tag: str
    what: str
    shown: str


_OF_TEXTS, _OF_TOKENS = "text-classification", "token-classification"
_ENTITIES = Task(
    _OF_TOKENS,
    "finds named entities",
    "[(ent.text, ent.label_) for ent in doc.ents]",
)
_SPANS = Task(
    _OF_TOKENS,
    "finds spans, which may overlap",
    "[(span.text, span.label_) for span in doc.spans[{key!r}]]",
)
_TASKS = {
    "textcat": Task(_OF_TEXTS, "chooses one label for each {text}", "doc.cats"),
    "textcat_multilabel": Task(
        _OF_TEXTS, "gives each {text} any number of labels", "doc.cats"
    ),
    "text_regressor": Task(_OF_TEXTS, "gives each {text} a score", "doc.cats"),
    "ner": _ENTITIES,
    "beam_ner": _ENTITIES,
    "bilou_ner": _ENTITIES,
    "spancat": _SPANS,
    "spancat_singlelabel": _SPANS,
    "tagger": Task(
        _OF_TOKENS, "tags each token", "[(token.text, token.tag_) for token in doc]"
    ),
}


def model_card(saved: Saved, repo: str | None = None) -> str:
    """Write the model card of a pipeline.

    saved (Saved): The pipeline.
    repo (Optional[str]): The name that it has on the hub, for the code that loads it.
    RETURNS (str): Markdown, with YAML at the top.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(md=markdown, py=_python, sh=_shell)
    card = environment.get_template(_TEMPLATE).render(
        front_matter=front_matter(saved),
        saved=saved,
        meta=saved.meta,
        repo=repo,
        tasks=_tasks(saved),
        separator=_separator(saved),
        components=_components(saved),
        scores=_scores(saved),
        label_scores=label_scores_of(saved.meta),
        encoders=facts.encoders_of(saved),
        segmentations=facts.segmentations_of(saved),
        train=facts.data_of(saved, "train"),
        dev=facts.data_of(saved, "dev"),
        sources=_sources(saved.meta),
        is_on_hub=facts.is_on_hub,
        place=facts.place,
    )
    # JSON, as in meta.json, can say what no file can hold: half of a character.
    return card.encode("utf8", "backslashreplace").decode()


def front_matter(saved: Saved) -> str:
    """Write what the hub reads of a model card.

    saved (Saved): The pipeline.
    RETURNS (str): YAML between lines of dashes.
    """
    from huggingface_hub import ModelCardData

    tags = list(dict.fromkeys(task.tag for task in _tasks(saved)))
    lang = saved.meta["lang"]
    train, dev = (facts.data_of(saved, part) for part in ("train", "dev"))
    datasets = dict.fromkeys(filter(None, (train.dataset, dev.dataset)))
    encoders = facts.encoders_of(saved).values()
    kind = dev.dataset or ("unknown" if dev.name == facts.UNKNOWN else "custom")
    results = eval_results(_scores(saved), kind, dev.name) or None
    data = ModelCardData(
        language="multilingual" if lang == "xx" else lang,
        **_license(saved.meta.get("license", "")),
        library_name="spacy",
        pipeline_tag=tags[0] if tags else None,
        tags=["spacy", *tags],
        datasets=list(datasets) or None,
        base_model=[name for name in encoders if facts.is_on_hub(name)] or None,
        model_name=saved.name if results else None,
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---\n"


def _scores(saved: Saved) -> list[Score]:
    weights = saved.config.get("training", {}).get("score_weights", {})
    return scores_of(saved.meta, weights)


def has_front_matter(readme: str) -> bool:
    """Say whether a README.md has YAML at its top."""
    return re.match(r"---\r?\n.*?\n---\r?(\n|$)", readme, re.DOTALL) is not None


def _license(written: str) -> dict[str, Any]:
    """Name a license as the hub does."""
    slug = re.sub(r"[^a-z0-9.]+", "-", written.lower()).strip("-")
    slug = slug.removeprefix("gnu-").removesuffix("-license")
    if not slug:
        return {}
    return (
        {"license": slug}
        if slug in _LICENSES
        else {"license": "other", "license_name": slug}
    )


def _tasks(saved: Saved) -> list[Task]:
    text = "text" if _separator(saved) is None else "pair of texts"
    found = [
        task._replace(
            what=task.what.format(text=text),
            shown=task.shown.format(key=block.get("spans_key", "")),
        )
        for block in saved.components.values()
        if (task := _TASKS.get(block.get("factory", ""))) is not None
    ]
    return list(dict.fromkeys(found))


def _separator(saved: Saved) -> str | None:
    """Find what separates the two texts of a pair."""
    tokenizer = saved.config["nlp"].get("tokenizer", {})
    return (
        tokenizer.get("separator") if tokenizer.get("@tokenizers") == _PAIRS else None
    )


def _components(saved: Saved) -> list[tuple[str, str, str]]:
    """Describe the components: their names, factories and labels."""
    rows = []
    for name, block in saved.components.items():
        labels = saved.meta.get("labels", {}).get(name, [])
        n_more = len(labels) - _MOST_LABELS
        named = ", ".join(labels[:_MOST_LABELS])
        more = f", and {n_more:,} more" if n_more > 0 else ""
        rows.append((name, str(block.get("factory", "")), named + more))
    return rows


def _sources(meta: dict[str, Any]) -> list[str]:
    """Name the sources that the author has put into meta.json."""
    keys = ("name", "url", "author", "license")
    return [
        source
        if isinstance(source, str)
        else ", ".join(source[key] for key in keys if source.get(key))
        for source in meta.get("sources") or []
    ]


def _python(text: str) -> str:
    """Write a text as Python code."""
    return (
        json.dumps(text, ensure_ascii=False) if visible(text) == text else ascii(text)
    )


def _shell(text: str) -> str:
    """Write a word of a command."""
    return quote(visible(text))
