"""The claims of speed in the docs, and the commands that measure them."""

from collections.abc import Mapping
from typing import NamedTuple


class Claim(NamedTuple):
    """A claim, which has a row for each peer.

    what (str): The words of the page.
    command (str): The command after `python -m benchmarks.`; {data} is a folder,
        {encoder} one that transformers reads.
    reports (tuple[str, ...]): The printed tables in which the page looks ours up; peers
        are in the first.
    peers (Mapping[str, str]): The other contestants: their names in the tables and on
        the page.
    ours (str): Our name in the tables.
    """

    what: str
    command: str
    reports: tuple[str, ...]
    peers: Mapping[str, str]
    ours: str = "ours"


_SPANFT, _PLAIN = "textcat_spanft", {"plain loop": "plain PyTorch loop"}
_OVERS = {"textcat_spanft over spacy-transformers": "over spacy-transformers"}
_BASELINES = {"textcat_baseline": "`textcat_baseline`"}
_SORTED = {"plain loop, sorted by length": "plain loop, sorted by length"}
_STEP = ("training step",)

CLAIMS = [
    Claim(
        "count 20M tokens",
        "counting {data}/enwiki2015.txt.zst --n-tokens 20000000",
        ("time", "memory"),
        {
            "nltk_everygrams": "`Counter` over `nltk.everygrams`",
            "polars_group_by": "polars `group_by`",
        },
    ),
    Claim(
        "dictionary of Wikipedia 2015, 77M tokens",
        "raw_text {data}/enwiki2015.txt.zst",
        ("time", "memory of all processes"),
        {"nlp.tokenizer alone": "`nlp.tokenizer` alone"},
    ),
    Claim(
        "segment Docs, 100,000 n-grams",
        "segmenting {data}/wikitext103.valid.tokens",
        ("speed",),
        {
            "reference algorithm": "reference algorithm",
            "PhraseMatcher": "`PhraseMatcher`",
            "NLTK, entities": "NLTK's entities",
        },
    ),
    Claim(
        "span head, 32 texts",
        "head",
        ("step",),
        {"padded": "padded", "padded by loops": "padded by loops"},
    ),
    Claim(
        "its memory, 102 texts",
        "head --memory --n-docs 102",
        ("memory of a step",),
        {"padded": "padded"},
    ),
    *(
        Claim(
            f"step of `{task}_spanft`",
            f"step --task {task}" if task != "textcat" else "step",
            _STEP,
            {f"{task}_baseline": f"`{task}_baseline`"},
            f"{task}_spanft",
        )
        for task in ("textcat", "ner", "spancat")
    ),
    Claim(
        "step, SST-2, MiniLM",
        "encoder {data}/glue/SST-2/train.tsv {encoder}",
        _STEP,
        {**_PLAIN, **_OVERS},
        _SPANFT,
    ),
    Claim(
        "step, CoLA, MiniLM",
        "encoder {data}/glue/CoLA/train.tsv {encoder} --n-predicted 0",
        _STEP,
        {**_PLAIN, **_OVERS},
        _SPANFT,
    ),
    Claim(
        "`nlp.pipe`, 1,280 texts of SST-2",
        "encoder {data}/glue/SST-2/train.tsv {encoder}",
        ("prediction",),
        {**_PLAIN, **_SORTED, **_BASELINES, **_OVERS},
        _SPANFT,
    ),
    *(
        Claim(
            f"{what} in bf16",
            "encoder {data}/glue/SST-2/train.tsv {encoder}",
            (report,),
            {_SPANFT: "in single precision", **peers},
            f"{_SPANFT} in bf16",
        )
        for what, report, peers in (
            ("the same step", *_STEP, {}),
            ("`nlp.pipe`", "prediction", _PLAIN),
        )
    ),
    Claim(
        "training on 1,000 texts of CoLA",
        "whole_training {data}/glue/CoLA {encoder} --n-texts 1000",
        ("time",),
        _PLAIN,
        _SPANFT,
    ),
    Claim(
        "the same training in bf16",
        "whole_training {data}/glue/CoLA {encoder} --n-texts 1000",
        ("time",),
        {_SPANFT: "in single precision", **_PLAIN},
        f"{_SPANFT} in bf16",
    ),
    *(
        Claim(
            f"memory of steps on {task}",
            f"whole_training {{data}}/glue/{task} {{encoder}} --memory",
            ("memory of steps",),
            _PLAIN,
            _SPANFT,
        )
        for task in ("SST-2", "CoLA")
    ),
    Claim(
        "frozen training, 1,000 texts",
        "whole_training {data}/glue/SST-2 {encoder} --n-texts 1000 --frozen",
        ("time",),
        _OVERS,
        _SPANFT,
    ),
    Claim(
        "`bilou_ner` with probabilities",
        "entity_scores {data} {encoder}",
        ("prediction",),
        {"without": "without"},
        "with",
    ),
]
