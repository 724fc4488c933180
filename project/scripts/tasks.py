"""The tasks: where their data is, in which columns, and by what they are scored."""

from typing import Literal, NamedTuple

Kind = Literal["single", "pair", "score", "ner"]

# What a part is called that has yet to be cut into train, dev and test data.
WHOLE = "whole"


class Layout(NamedTuple):
    """In which columns a table has what.

    text (str): The text, the first of two, or the tokens of a sentence.
    text_pair (Optional[str]): The second text.
    label (str): The label, the score, or the tags of a sentence.
    header (Optional[list[str]]): The names of the columns, if the file has none.
    """

    text: str
    text_pair: str | None = None
    label: str = "label"
    header: list[str] | None = None


class Task(NamedTuple):
    """A task.

    kind (Literal["single", "pair", "score", "ner"]): What is to be predicted of what.
    metric (str): By what it is scored, as `spanft compare --metric` calls it.
    folders (tuple[str, ...]): What its folder is called where its files lie.
    files (tuple[dict[str, str], ...]): The parts and their files; each of these may be
        there.
    hub (tuple[str, Optional[str]]): The name and the configuration of the dataset.
    splits (dict[str, str]): The parts and their splits in the dataset.
    layouts (tuple[Layout, ...]): The columns, first those of the dataset.
    labels (tuple[str, ...]): What its labels are called, in the order of their numbers.
    positive_label (Optional[str]): The label that F1 is about.
    has_gaps (bool): Whether there are broken rows in its files, or rows without label.
    """

    kind: Kind
    metric: str
    folders: tuple[str, ...]
    files: tuple[dict[str, str], ...]
    hub: tuple[str, str | None]
    splits: dict[str, str]
    layouts: tuple[Layout, ...]
    labels: tuple[str, ...] = ()
    positive_label: str | None = None
    has_gaps: bool = False


def glue(
    name: str,
    folder: str,
    layouts: tuple[Layout, ...],
    labels: tuple[str, ...] = (),
    kind: Kind = "pair",
    metric: str = "cats_accuracy",
    positive_label: str | None = None,
    has_gaps: bool = False,
) -> Task:
    """Describe a task of GLUE, which is tested on its dev data.

    The labels of GLUE's own test data are secret.
    """
    # MNLI has two dev sets: of the kinds of text in the training data, and of others.
    matched = "_matched" if name == "mnli" else ""
    files = {"train": "train.tsv", "test": f"dev{matched}.tsv"}
    splits = {"train": "train", "test": f"validation{matched}"}
    if matched:
        files["test_mismatched"] = "dev_mismatched.tsv"
        splits["test_mismatched"] = "validation_mismatched"
    return Task(
        kind=kind,
        metric=metric,
        folders=(folder,),
        files=(files,),
        hub=("nyu-mll/glue", name),
        splits=splits,
        layouts=layouts,
        labels=labels,
        positive_label=positive_label,
        has_gaps=has_gaps,
    )


def ner(
    folder: str,
    files: tuple[dict[str, str], ...],
    hub: str,
    splits: dict[str, str],
    tokens: str = "tokens",
) -> Task:
    """Describe a task of named entities."""
    return Task(
        kind="ner",
        metric="ents_f",
        folders=(folder,),
        files=files,
        hub=(hub, None),
        splits=splits,
        layouts=(Layout(tokens, label="ner_tags"),),
    )


SENTENCES = Layout("sentence1", "sentence2")
QUESTIONS = ("question1", "question2")
NLI = ("entailment", "neutral", "contradiction")
NLI_LAYOUTS = (
    Layout("premise", "hypothesis"),
    Layout("sentence1", "sentence2", "gold_label"),
    SENTENCES,
)
OFFICIAL = {"train": "train", "dev": "validation", "test": "test"}


def in_files(pattern: str) -> dict[str, str]:
    """Name the file of each part: {} in the pattern is the part's name."""
    return {part: pattern.format(part) for part in OFFICIAL}


TASKS: dict[str, Task] = {
    "cola": glue(
        "cola",
        "CoLA",
        (
            Layout("sentence"),
            Layout("sentence", header=["source", "label", "mark", "sentence"]),
        ),
        ("unacceptable", "acceptable"),
        kind="single",
        metric="cats_matthews",
    ),
    "sst2": glue(
        "sst2", "SST-2", (Layout("sentence"),), ("negative", "positive"), kind="single"
    ),
    "mrpc": glue(
        "mrpc",
        "MRPC",
        (SENTENCES, Layout("#1 String", "#2 String", "Quality")),
        ("not_equivalent", "equivalent"),
        metric="cats_f1",
        positive_label="equivalent",
    ),
    "qqp": glue(
        "qqp",
        "QQP",
        (Layout(*QUESTIONS), Layout(*QUESTIONS, "is_duplicate"), SENTENCES),
        ("not_duplicate", "duplicate"),
        metric="cats_f1",
        positive_label="duplicate",
        has_gaps=True,
    ),
    "stsb": glue(
        "stsb",
        "STS-B",
        (SENTENCES, Layout("sentence1", "sentence2", "score")),
        kind="score",
        metric="cats_spearman",
    ),
    "mnli": glue("mnli", "MNLI", NLI_LAYOUTS, NLI),
    "qnli": glue(
        "qnli",
        "QNLI",
        (Layout("question", "sentence"), SENTENCES),
        ("entailment", "not_entailment"),
    ),
    "rte": glue("rte", "RTE", (SENTENCES,), ("entailment", "not_entailment")),
    "wnli": glue("wnli", "WNLI", (SENTENCES,), ("not_entailment", "entailment")),
    "snli": Task(
        kind="pair",
        metric="cats_accuracy",
        folders=("SNLI", "snli_1.0"),
        files=(in_files("snli_1.0_{}.jsonl"), in_files("{}.jsonl"), in_files("{}.tsv")),
        hub=("stanfordnlp/snli", "plain_text"),
        splits=OFFICIAL,
        layouts=NLI_LAYOUTS,
        labels=NLI,
        has_gaps=True,
    ),
    "conll2003": ner(
        "conll2003",
        (
            {"train": "train.txt", "dev": "valid.txt", "test": "test.txt"},
            {"train": "eng.train", "dev": "eng.testa", "test": "eng.testb"},
        ),
        hub="lhoestq/conll2003",
        splits=OFFICIAL,
    ),
    "wnut17": ner(
        "wnut17",
        (
            {
                "train": "wnut17train.conll",
                "dev": "emerging.dev.conll",
                "test": "emerging.test.annotated",
            },
        ),
        hub="manu/wnut_17",
        splits=OFFICIAL,
    ),
    "wikigold": ner(
        "wikigold",
        ({WHOLE: "wikigold.conll.txt"},),
        hub="milistu/Wikigold-NER-conll",
        splits={WHOLE: "train+test"},
        tokens="words",
    ),
}
