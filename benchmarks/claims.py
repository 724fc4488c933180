"""What the docs say of speed: which rows there are, and which command measures them."""

from collections.abc import Mapping
from typing import NamedTuple


class Claim(NamedTuple):
    """Rows of the page: one for each peer.

    what (str): What is measured, in the words of the page.
    command (str): What runs it, after `python -m benchmarks.`; {data} is a folder,
        {encoder} one that transformers reads.
    reports (tuple[str, ...]): The tables that it prints of which the page shows ours;
        peers are of the first.
    peers (Mapping[str, str]): The rows of the other contestants: how the command calls
        them, and the page.
    ours (str): What the command calls ours.
    """

    what: str
    command: str
    reports: tuple[str, ...]
    peers: Mapping[str, str]
    ours: str = "ours"


_COUNTERS = {
    "nltk_everygrams": "`Counter` over `nltk.everygrams`",
    "polars_group_by": "polars `group_by`, streaming",
}
_SPANFT, _PLAIN = "textcat_spanft", {"plain loop": "plain PyTorch loop"}
_OVER = "textcat_spanft over spacy-transformers"
_OVERS = {_OVER: "the same over spacy-transformers"}
_BASELINES = {"textcat_baseline": "`textcat_baseline`"}
_SORTED = {"plain loop, sorted by length": "plain loop, texts sorted by length"}
_BASE = "12 layers, width 768"

CLAIMS = [
    *(
        Claim(
            f"count {n}M tokens of Wikipedia, n = 2 to 5",
            f"counting {{data}}/enwiki2015.txt.zst --n-tokens {n}000000",
            ("time", "memory"),
            _COUNTERS,
        )
        for n in (10, 20)
    ),
    Claim(
        "a dictionary of English Wikipedia 2015, 77M tokens of raw text, 2 processes",
        "raw_text {data}/enwiki2015.txt.zst",
        ("time", "memory of all processes"),
        {"nlp.tokenizer alone": "`nlp.tokenizer` alone over it"},
    ),
    Claim(
        "segment Docs of 60 tokens, 100,000 n-grams",
        "segmenting {data}/wikitext103.valid.tokens",
        ("speed",),
        {
            "reference algorithm": "joined strings in a set, `doc[start:end]`",
            "PhraseMatcher": "`PhraseMatcher` and greedy selection",
            "NLTK, entities": "NLTK's entity chunker",
            "NLTK, phrases": "NLTK's phrase chunker",
        },
    ),
    Claim(
        "`add_pipe` and the first text, on top of `spacy.blank`",
        "first_call",
        ("time more", "memory more"),
        {},
    ),
    Claim(
        "span head, forward and backward, 32 texts of 40 wordpieces, width 768",
        "head",
        ("step",),
        {
            "padded": "the same padded, r = 64, l = 16",
            "padded by loops": "padded by Python loops, as the paper's code",
        },
    ),
    Claim(
        "its memory, 102 texts",
        "head --memory --n-docs 102",
        ("memory of a step",),
        {"padded": "the same padded"},
    ),
    Claim(
        "a training step of `textcat_spanft`, BERT of 6 layers, width 384",
        "step",
        ("training step",),
        _BASELINES,
        _SPANFT,
    ),
    Claim(
        f"the same, {_BASE}",
        "step --layers 12 --width 768",
        ("training step",),
        _BASELINES,
        _SPANFT,
    ),
    *(
        Claim(
            f"a training step of `{task}_spanft`, 6 layers",
            f"step --task {task}",
            ("training step",),
            {f"{task}_baseline": f"`{task}_baseline`"},
            f"{task}_spanft",
        )
        for task in ("ner", "spancat")
    ),
    Claim(
        "a training step of `textcat_spanft`, SST-2, MiniLM",
        "encoder {data}/glue/SST-2/train.tsv {encoder}",
        ("training step",),
        {**_PLAIN, **_BASELINES, **_OVERS},
        _SPANFT,
    ),
    Claim(
        "the same, CoLA",
        "encoder {data}/glue/CoLA/train.tsv {encoder} --n-predicted 0",
        ("training step",),
        _PLAIN,
        _SPANFT,
    ),
    Claim(
        f"the same, SST-2, {_BASE}",
        "encoder {data}/glue/SST-2/train.tsv {encoder} --base --n-predicted 0",
        ("training step",),
        _PLAIN,
        _SPANFT,
    ),
    Claim(
        "`nlp.pipe`, 1,280 texts of SST-2, MiniLM",
        "encoder {data}/glue/SST-2/train.tsv {encoder}",
        ("prediction",),
        {**_PLAIN, **_SORTED, **_BASELINES, **_OVERS},
        _SPANFT,
    ),
    Claim(
        "a training of `textcat_spanft` to its end, 1,000 texts of CoLA, 3 epochs",
        "whole_training {data}/glue/CoLA {encoder} --n-texts 1000",
        ("time",),
        _PLAIN,
        _SPANFT,
    ),
    *(
        Claim(
            f"memory of training steps on {task}, beside libraries and weights",
            f"whole_training {{data}}/glue/{task} {{encoder}} --memory",
            ("memory of steps",),
            _PLAIN,
            _SPANFT,
        )
        for task in ("SST-2", "CoLA")
    ),
    Claim(
        "a frozen training to its end, 1,000 texts of SST-2, 10 epochs, each evaluated",
        "whole_training {data}/glue/SST-2 {encoder} --n-texts 1000 --frozen",
        ("time",),
        _OVERS,
        _SPANFT,
    ),
    Claim(
        "a frozen training step of `textcat_spanft`, 6 layers, its texts new",
        "frozen",
        ("training step",),
        {"full": "a full one"},
        "frozen",
    ),
    Claim(
        "`bilou_ner` with the probabilities of its entities, WikiGold",
        "entity_scores {data} {encoder}",
        ("prediction",),
        {"without": "without them"},
        "with",
    ),
]
