"""Get what NLTK's phrases need, where NLTK does not find it on this machine."""

from contextlib import suppress
from pathlib import Path

import typer
from wasabi import msg

PHRASE_DATA = ("taggers/averaged_perceptron_tagger_eng", "corpora/conll2000")


def main(folder: Path) -> None:
    """Download NLTK's tagger and its conll2000 corpus to FOLDER, if need be."""
    import nltk

    folder.mkdir(parents=True, exist_ok=True)
    for name in PHRASE_DATA:
        package = name.split("/")[1]
        with suppress(LookupError):
            nltk.data.find(name, [*nltk.data.path, str(folder)])
            msg.good(f"NLTK has {package}")
            continue
        try:
            nltk.download(package, folder, quiet=True, raise_on_error=True)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            msg.fail(
                f"NLTK's {package} is not on this machine, and cannot be downloaded: "
                f"{reason}",
                "Set NLTK_DATA to a folder that has it, or run other arms: "
                "spacy project run textcat . --vars.arms encoders",
                exits=1,
            )
        msg.good(f"Downloaded NLTK's {package} to {folder}")


if __name__ == "__main__":
    typer.run(main)
