"""Empty pipelines, by the code of their language."""

from typing import TYPE_CHECKING, Any

from ..errors import SpanftError, shown

if TYPE_CHECKING:
    from spacy.language import Language


def blank(lang: str, config: dict[str, Any] | None = None) -> "Language":
    """Make an empty pipeline.

    lang (str): The language.
    config (Optional[dict[str, Any]]): What it is to have of its own.
    RETURNS (Language): The pipeline.
    """
    import spacy

    try:
        return spacy.blank(lang, config=config or {})
    except ImportError as error:
        if "[E048]" in str(error):
            raise SpanftError(
                f"{shown(lang)} is not the code of a language that spaCy knows, such "
                "as 'en' or 'de'."
            ) from error
        reason = str(error).partition("\n")[0]
        raise SpanftError(
            f"There is no tokenizer of the language {shown(lang)}: {reason}"
        ) from error
