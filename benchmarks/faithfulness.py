"""Are the explanations faithful: does deleting a phrase do what its share says?

    python -m benchmarks.faithfulness DATA ENCODER --seeds 3

DATA and ENCODER as in benchmarks.fewlabels. For SST-2 and CoLA, heads over n-grams are
trained: beside [CLS], without it, and, as `init` writes it, beside the mean. Then, in
texts of the dev data, the span that adds most to the difference of the two labels'
logits is deleted, and in its place as many tokens anywhere else: how much does either
lower it? And how good is the order of the spans, as ERASER measures it (DeYoung et al.
2020): how much of the label's probability is lost without the best ones
(comprehensiveness), and with them alone (sufficiency), on average over a tenth, a fifth
and half of the tokens; against integrated gradients of the wordpieces, [CLS]'s
attention, and chance.

Each model is a line of benchmarks/results/faithfulness.jsonl, and is not done again.
"""

import random
import time
import warnings
from collections.abc import Sequence
from itertools import product
from math import log, sqrt
from pathlib import Path
from statistics import mean, median, stdev
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from wasabi.tables import table

from spacy_spanft.explanation import Explanation, Reasons, explain_pipe
from spacy_spanft.explanation.text_scores import layers_of, pieces_of

from .arguments import Encoder, Folder
from .fewlabels.encoders import check_same
from .fewlabels.tasks import check_data
from .fewlabels.training import trained
from .matrix import Run, run_missing

RESULTS = Path(__file__).parent / "results" / "faithfulness.jsonl"
SIZES = {"SST-2": 2000, "CoLA": 8000}
HEADS = ("ngrams", "no-cls", "mean-ngrams")
METHODS = ("shares", "gradients", "attention", "chance")
SETTINGS = {"regime": "everything", "rate": 1e-4, "head_rate": 1e-4, "epochs": 3}
MAX_TEXTS = 150
MIN_PARTS, MIN_TOKENS = 3, 5
SHARES_OF_TOKENS = (0.1, 0.2, 0.5)
N_STEPS = 20
N_TURNS = 5


class Text(NamedTuple):
    """A text with its explanation.

    explanation (Explanation): The explanation.
    spans (list[tuple[int, int]]): The tokens of its parts.
    rows (list[Any]): The wordpieces of its parts.
    label (int): The label that it has.
    rival (int): The other one.
    """

    explanation: Explanation
    spans: list[tuple[int, int]]
    rows: list[Any]
    label: int
    rival: int


def main(
    data: Folder,
    encoder: Encoder,
    seeds: Annotated[int, typer.Option(min=1)] = 3,
    results: Annotated[Path, typer.Option(dir_okay=False)] = RESULTS,
) -> None:
    """Train and test the models that are missing, and print the tables."""
    check_data(data, SIZES)
    check_same(results.parent, encoder)
    warnings.filterwarnings("ignore")
    runs: list[Run] = [
        {"task": task, "size": size, "arm": arm, "seed": seed, "part": "dev"} | SETTINGS
        for seed, (task, size), arm in product(range(seeds), SIZES.items(), HEADS)
    ]
    done = run_missing(results, runs, lambda run: test(run, data, encoder))
    print(tables(done))


def test(run: Run, data: Path, encoder: Path) -> dict[str, Any]:
    """Train a model, and delete phrases from the texts of the dev data."""
    nlp, dev = trained(run, data, encoder)
    scores = nlp.evaluate(dev, batch_size=32)
    words = [example.reference.text for example in dev]
    chance = random.Random(run["seed"])
    texts = [text for one in explain_pipe(nlp, words) if (text := text_of(nlp, one))]
    texts = chance.sample(texts, min(MAX_TEXTS, len(texts)))
    orders = {name: order(name, nlp, texts, chance) for name in METHODS}
    return {
        "accuracy": round(scores["cats_accuracy"], 4),
        "macro_f": round(scores["cats_macro_f"], 4),
        "n": len(texts),
        "cls_share": round(mean(map(share_of_whole, texts)), 4),
        **deletion(nlp, texts, chance),
        **{name: eraser(nlp, texts, orders[name]) for name in METHODS},
        **seconds(nlp, words),
    }


def text_of(nlp: Language, one: Explanation) -> Text | None:
    """Find the parts of a text; None if there are too few to choose among."""
    model: Any = nlp.get_pipe("textcat").model  # type: ignore[attr-defined]
    X = model.get_ref("rows").predict([one.doc])
    pieces, _ = pieces_of(layers_of(model)[0], X)
    ends = np.cumsum(pieces.lengths)
    rows = np.split(pieces.rows, ends[:-1]) if len(ends) else []
    parts = one.contributions().parts
    named = [(part, row) for part, row in zip(parts, rows, strict=True) if part.text]
    if len(named) < MIN_PARTS or len(one.doc) < MIN_TOKENS:
        return None
    spans = [(part.start, part.end) for part, _ in named]
    label, rival = (int(i) for i in np.argsort(-one.contributions().logits)[:2])
    return Text(one, spans, [row for _, row in named], label, rival)


def reasons_of(text: Text) -> Reasons:
    """Say what speaks for the label that a text has, and not for the other one."""
    label, rival = (text.explanation.labels[i] for i in (text.label, text.rival))
    return text.explanation.of(label, rival)


def shares(text: Text) -> NDArray[np.float64]:
    """Give what each part adds to the label's logit, and not to the rival's."""
    return np.array([added for part, added in reasons_of(text).parts if part.text])


def share_of_whole(text: Text) -> float:
    """Compute how much of what is added, by size, [CLS] or the mean adds."""
    reasons = reasons_of(text)
    rest = sum(abs(added) for _, added in reasons.parts)
    return abs(reasons.whole_text) / (abs(reasons.whole_text) + rest)


def order(
    name: str, nlp: Language, texts: Sequence[Text], chance: random.Random
) -> list[list[int]]:
    """Put the parts of each text in order, what speaks most for its label first."""
    found = []
    for text in texts:
        if name == "shares":
            values = shares(text)
        elif name == "chance":
            values = np.array([chance.random() for _ in text.spans])
        else:
            of_rows = gradients if name == "gradients" else attention
            weights = of_rows(nlp, text)
            values = np.array([weights[rows].sum() for rows in text.rows])
        found.append(np.argsort(-values, kind="stable").tolist())
    return found


def gradients(nlp: Language, text: Text) -> NDArray[np.float64]:
    """Integrate the gradient from no embedding to that of each wordpiece."""
    model: Any = nlp.get_pipe("textcat").model  # type: ignore[attr-defined]
    doc = text.explanation.doc
    bert, inputs = _bert(nlp, doc)
    W = model.get_ref("output_layer").get_param("W")
    rows = model.get_ref("rows").predict([doc])
    pool = model.get_ref("pooled").copy()  # which keeps the gradients to itself
    words = bert.embeddings.word_embeddings(inputs["input_ids"]).detach()
    total = torch.zeros_like(words)
    for step in range(N_STEPS):
        X = (words * (step + 0.5) / N_STEPS).requires_grad_()
        rest = {key: value for key, value in inputs.items() if key != "input_ids"}
        found = bert(inputs_embeds=X, **rest).last_hidden_state[0]
        X_rows = rows._replace(vectors=found.detach().numpy())
        pooled, backprop = pool(X_rows, is_train=True)
        d_pooled = np.tile(W[text.label] - W[text.rival], (len(pooled), 1))
        found.backward(torch.from_numpy(np.ascontiguousarray(backprop(d_pooled))))
        total += X.grad
    added: NDArray[np.float64] = (
        (total * words / N_STEPS).sum(dim=2)[0].double().numpy()
    )
    return added


def attention(nlp: Language, text: Text) -> NDArray[np.float64]:
    """Give the attention of the last layer from [CLS], the mean of its heads."""
    bert, inputs = _bert(nlp, text.explanation.doc)
    with torch.no_grad():
        found = bert(**inputs, output_attentions=True).attentions[-1]
    weights: NDArray[np.float64] = found[0].mean(dim=0)[0].double().numpy()
    return weights


def _bert(nlp: Language, doc: Doc) -> tuple[Any, dict[str, Any]]:
    """Get the encoder, and what it is given for a text that is one window."""
    model: Any = nlp.get_pipe("transformer").model  # type: ignore[attr-defined]
    encoder = model.shims[0].encoder
    inputs = encoder.tokenizer(doc.text, return_tensors="pt")
    assert inputs["input_ids"].shape[1] <= encoder.tokenizer.model_max_length, doc.text
    module = encoder.module.eval()
    if hasattr(module, "set_attn_implementation"):  # others give no attention weights
        module.set_attn_implementation("eager")
    return module, dict(inputs)


def deletion(
    nlp: Language, texts: Sequence[Text], chance: random.Random
) -> dict[str, Any]:
    """Delete the best part of each text, and as many tokens anywhere else."""
    chosen, top, anywhere = [], [], []
    for text in texts:
        best = int(np.argmax(shares(text)))
        start, end = text.spans[best]
        size, n_tokens = end - start, len(text.explanation.doc)
        others = [i for i in range(n_tokens - size + 1) if not start <= i < end]
        others = [i for i in others if not start < i + size <= end]
        if not others:
            continue
        other = chance.choice(others)
        chosen.append(text)
        top.append(without(text, [(start, end)]))
        anywhere.append(without(text, [(other, other + size)]))
    before = odds(nlp, chosen, [text.explanation.doc.text for text in chosen])
    of_top = [b - a for b, a in zip(before, odds(nlp, chosen, top), strict=True)]
    of_any = [b - a for b, a in zip(before, odds(nlp, chosen, anywhere), strict=True)]
    apart = [a - b for a, b in zip(of_top, of_any, strict=True)]
    half = 1.96 * stdev(apart) / sqrt(len(apart))
    values = {"top": mean(of_top), "random": mean(of_any), "difference": mean(apart)}
    return {"deletion": {k: round(v, 4) for k, v in {**values, "half": half}.items()}}


def eraser(
    nlp: Language, texts: Sequence[Text], orders: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Compute comprehensiveness and sufficiency of an order of the parts."""
    before = probabilities(nlp, texts, [text.explanation.doc.text for text in texts])
    lost: dict[str, list[float]] = {"comprehensiveness": [], "sufficiency": []}
    for share in SHARES_OF_TOKENS:
        best = [
            _best(text, ranks, share) for text, ranks in zip(texts, orders, strict=True)
        ]
        for name, keep in (("comprehensiveness", False), ("sufficiency", True)):
            cut = [without(t, b, keep=keep) for t, b in zip(texts, best, strict=True)]
            after = probabilities(nlp, texts, cut)
            lost[name] += [b - a for b, a in zip(before, after, strict=True)]
    return {name: round(mean(values), 4) for name, values in lost.items()}


def _best(text: Text, ranks: Sequence[int], share: float) -> list[tuple[int, int]]:
    """Take parts from the best on, as long as they have that share of the tokens."""
    left = share * len(text.explanation.doc)
    found: list[tuple[int, int]] = []
    for rank in ranks:
        start, end = text.spans[rank]
        left -= end - start
        if found and left < 0:
            break
        found.append((start, end))
    return found


def without(text: Text, spans: Sequence[tuple[int, int]], keep: bool = False) -> str:
    """Write a text without the tokens of spans, or with nothing else."""
    inside = {i for start, end in spans for i in range(start, end)}
    return "".join(
        token.text_with_ws
        for token in text.explanation.doc
        if (token.i in inside) == keep
    ).strip()


def probabilities(
    nlp: Language, texts: Sequence[Text], changed: Sequence[str]
) -> list[float]:
    """Predict how probable the label of each text is after a change."""
    return [
        doc.cats[text.explanation.labels[text.label]]
        for doc, text in zip(nlp.pipe(changed), texts, strict=True)
    ]


def odds(nlp: Language, texts: Sequence[Text], changed: Sequence[str]) -> list[float]:
    """Predict how much larger a label's logit is than the other's after a change."""
    found = probabilities(nlp, texts, changed)
    return [log(max(p, 1e-12) / max(1 - p, 1e-12)) for p in found]


def seconds(nlp: Language, words: Sequence[str]) -> dict[str, float]:
    """Measure predictions and explanations in turns."""
    taken: dict[str, list[float]] = {"predict_s": [], "explain_s": []}
    for _ in range(N_TURNS):
        for name, pipe in (("predict_s", nlp.pipe), ("explain_s", None)):
            begin = time.perf_counter()
            for _ in pipe(words) if pipe else explain_pipe(nlp, words):
                pass
            taken[name].append(time.perf_counter() - begin)
    return {name: round(median(values), 3) for name, values in taken.items()}


def tables(done: Sequence[Run]) -> str:
    """Write what was found: means over seeds."""
    rows, orders = [], []
    for task, arm in product(SIZES, HEADS):
        own = [run for run in done if (run["task"], run["arm"]) == (task, arm)]
        if not own:
            continue
        top, anywhere, apart, half = (
            [run["deletion"][key] for run in own]
            for key in ("top", "random", "difference", "half")
        )
        ratio = mean(run["explain_s"] / run["predict_s"] for run in own)
        cells = (f"{mean(x):.2f}" for x in (top, anywhere, apart, half))
        macro_f, share = (mean(r[key] for r in own) for key in ("macro_f", "cls_share"))
        shown = f"{100 * macro_f:.1f}", f"{share:.0%}", *cells, f"{ratio:.2f}"
        rows.append((task, arm, len(own), *shown))
        for name in METHODS:
            both = (
                mean(run[name][key] for run in own)
                for key in ("comprehensiveness", "sufficiency")
            )
            orders.append((task, arm, name, *(f"{value:.3f}" for value in both)))
    header = ("task", "head", "seeds", "macro F", "of the whole", "top", "random")
    header += ("difference", "± (95%, texts)", "explain / predict")  # type: ignore[assignment]
    named = ("task", "head", "order", "comprehensiveness", "sufficiency")
    return str(table(rows, header=header, divider=True)) + str(
        table(orders, header=named, divider=True)
    )


if __name__ == "__main__":
    typer.run(main)
