"""Get what NLTK's phrases need, where NLTK does not find it on this machine."""

from pathlib import Path

import typer
from wasabi import msg

from spacy_spanft.segmenters.nltk_chunk import PHRASE_DATA, has_phrase_data


def main(folder: Path) -> None:
    """Download NLTK's tagger and its conll2000 corpus to FOLDER, if need be."""
    import nltk

    folder.mkdir(parents=True, exist_ok=True)
    if has_phrase_data(folder):
        msg.good("NLTK has its data")
        return
    for name in PHRASE_DATA:
        package = name.split("/")[1]
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
    msg.good(f"Downloaded NLTK's data to {folder}")


if __name__ == "__main__":
    typer.run(main)
