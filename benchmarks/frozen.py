"""A training step with a frozen transformer against a full one.

    python -m benchmarks.frozen
    python -m benchmarks.frozen --encoder all-MiniLM-L6-v2 --thawed 2

Without `--encoder`, it is a BERT with random weights, as in `benchmarks.step`. Frozen
and full steps take turns on the same pipeline and batch, as spaCy's loop does them. At
the end come many frozen steps more, by an optimizer with weight decay that is warm from
the full ones, and a hash tells whether they changed a bit of the transformer.
"""

import hashlib
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_spanft.ml.optimizers.groups import models, shim_of, transformers
from spacy_spanft.training.regimes import freeze_transformer

from .report import report
from .step import make_pipeline, make_texts, save_bert

# With so many layers that learn, all do.
ALWAYS = 10**9


def hash_of(nlp: Any) -> str:
    """Hash all that is in the transformers, bit by bit."""
    digest = hashlib.sha256()
    for model in models(nlp).values():
        for transformer in transformers(model):
            for name, tensor in shim_of(transformer)._model.state_dict().items():
                digest.update(name.encode())
                digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()


def step(nlp: Any, examples: Any, optimizer: Any, callback: Any, n: int) -> float:
    """Do what spaCy's loop does in a step, and give the seconds it took."""
    annotates = [name for name in nlp.pipe_names if name == "span_segmenter"]
    begin = time.perf_counter()
    callback(nlp, {"step": n, "epoch": 0})
    nlp.update(examples, sgd=False, annotates=annotates)
    for _, component in nlp.pipeline:
        if getattr(component, "is_trainable", False):
            component.finish_update(optimizer)
    optimizer.step_schedules()
    return time.perf_counter() - begin


def main(
    config: Annotated[str, typer.Option(help="one of configs/")] = "textcat_spanft",
    encoder: Annotated[str | None, typer.Option(help="its name or folder")] = None,
    layers: int = 6,
    width: int = 384,
    n_texts: int = 32,
    n_words: int = 38,
    repeat: int = 10,
    n_frozen: Annotated[int, typer.Option(help="frozen steps before the hash")] = 20,
    thawed: Annotated[int, typer.Option(help="layers that learn all the same")] = 0,
) -> None:
    """Measure."""
    texts = make_texts(n_texts, n_words)
    # In step n, n layers of the transformer learn.
    freeze = freeze_transformer(until_step=1, steps_per_layer=1)
    arms = {"frozen": thawed, "full": ALWAYS}
    times: dict[str, list[float]] = {name: [] for name in arms}
    with tempfile.TemporaryDirectory() as folder:
        if encoder is None:
            save_bert(Path(folder), layers, width)
        name = Path(encoder or folder)
        many = {"training.optimizer.learn_rate.max_steps": 10_000}
        nlp, examples, optimizer = make_pipeline(config, name, texts, **many)
        for turn in range(repeat + 2):
            for arm, n in arms.items():
                seconds = step(nlp, examples, optimizer, freeze, n)
                if turn > 1:  # the first ones warm up
                    times[arm].append(seconds)
        before = hash_of(nlp)
        for _ in range(n_frozen):
            step(nlp, examples, optimizer, freeze, 0)
        is_same = hash_of(nlp) == before
    print(encoder or f"an encoder of {layers} layers, width {width}")
    if thawed:
        print(f"frozen but for {thawed} layers")
    report("training step", "s", times, "frozen")
    print(f"same after {n_frozen} frozen steps: {is_same}, {before[:16]}")
    if not is_same:
        raise SystemExit("The frozen transformer has changed.")


if __name__ == "__main__":
    typer.run(main)
