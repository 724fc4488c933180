"""What a dictionary says about itself, for people to read."""

from itertools import islice

from .dictionary import NgramDictionary


def facts_of(dictionary: NgramDictionary) -> list[tuple[str, str]]:
    """Say where a dictionary comes from, and what is in it.

    dictionary (NgramDictionary): The dictionary.
    RETURNS (list[tuple[str, str]]): Rows of a table.
    """
    origin = dictionary.provenance
    return [
        ("n-grams", f"{len(dictionary):,}"),
        *((f"  of {n} words", f"{size:,}") for n, size in dictionary.sizes().items()),
        ("source", ", ".join(origin.sources) or "unknown"),
        ("tokens counted", f"{origin.n_tokens:,}"),
        ("tokenizer", origin.tokenizer or "unknown"),
        ("case", "folded" if dictionary.attr == "LOWER" else "kept"),
        ("largest n", str(origin.max_n)),
        ("smallest count", str(origin.min_count)),
        ("made with", origin.made_with or "unknown"),
        *(("then", step) for step in origin.steps),
        ("most frequent", ", ".join(islice(dictionary, 5)) or "(none)"),
    ]
