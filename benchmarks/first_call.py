"""What `nlp.add_pipe("span_segmenter")` and the first Doc cost on top of a blank nlp.

    python -m benchmarks.first_call

Each is measured in processes of its own, in turns.
"""

import typer

from .harness import in_turns
from .report import report

TEXT = "The president of the United States lives in New York City."


def blank() -> None:
    import spacy

    spacy.blank("en")(TEXT)


def with_segmenter() -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("span_segmenter")
    assert nlp(TEXT).spans["ngrams"]


def main(repeat: int = 5) -> None:
    """Measure."""
    runs = in_turns({"blank": (blank,), "with": (with_segmenter,)}, repeat)
    pairs = list(zip(runs["with"], runs["blank"], strict=True))
    times = [a.seconds - b.seconds for a, b in pairs]
    report("time more", "s", {"ours": times}, "ours")
    sizes = [a.megabytes - b.megabytes for a, b in pairs]
    report("memory more", "MB", {"ours": sizes}, "ours")


if __name__ == "__main__":
    typer.run(main)
