"""The corpora of a pipeline's config, read before training begins."""

from typing import Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import dot_to_object, resolve_dot_names


def read_corpus(nlp: Language, config: Any, setting: str) -> list[Example] | None:
    """Read the corpus that a setting of [training] names.

    config (Config): Its config, interpolated.
    setting (str): "train_corpus" or "dev_corpus".
    RETURNS (Optional[list[Example]]): Its examples; None if there is none, as when only
        labels are initialized.
    """
    name = config.get("training", {}).get(setting)
    try:
        block = dot_to_object(config, name or "")
    except KeyError:
        return None
    if block is None or block.get("path", "") is None:
        return None
    (corpus,) = resolve_dot_names(config, [name])
    return list(corpus(nlp))
