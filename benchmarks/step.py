"""A training step of a config with spans against that of its baseline.

    python -m benchmarks.step --layers 12 --width 768
    python -m benchmarks.step --task ner

The encoder is a BERT of that size with random weights, so nothing is downloaded. Both
pipelines get the same batches of texts through `nlp.update`, which includes the
span_segmenter.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_spanft import default_dictionary
from spacy_spanft.experiments.measuring import n_parameters

from .harness import our_config, timed_in_turns
from .report import report

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_bert(folder: Path, layers: int, width: int) -> None:
    """Save a BERT whose vocabulary is the words of the default dictionary."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = [word for word in default_dictionary().words if word.isalpha()]
    file = folder / "vocab.txt"
    file.write_text("\n".join([*SPECIAL, *words]) + "\n", encoding="utf8")
    tokenizer = BertTokenizerFast(str(file), model_max_length=128)
    tokenizer.save_pretrained(folder)
    size = {"num_hidden_layers": layers, "hidden_size": width}
    heads = {"num_attention_heads": width // 64, "intermediate_size": 4 * width}
    config = BertConfig(vocab_size=len(tokenizer), **size, **heads)
    BertModel(config).save_pretrained(folder)


def make_texts(n_texts: int, n_words: int) -> list[str]:
    """Return texts of n-grams of the dictionary."""
    ngrams = [
        ngram for ngram in default_dictionary() if ngram.replace(" ", "").isalpha()
    ]
    random = np.random.default_rng(0)
    texts = []
    for _ in range(n_texts):
        words: list[str] = []
        while len(words) < n_words:
            words += ngrams[int(random.integers(2000))].split(" ")
        texts.append(" ".join(words[:n_words]))
    return texts


def make_pipeline(
    name: str, bert: Path, texts: list[str], **settings: Any
) -> tuple[Any, ...]:
    """Return an initialized pipeline, its examples and its optimizer."""
    overrides = {"paths.transformer": str(bert), **settings}
    config = our_config(name, overrides).interpolate()
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    examples = [make_example(nlp.make_doc(text), i % 2) for i, text in enumerate(texts)]
    optimizer = nlp.initialize(lambda: examples)
    return nlp, examples, optimizer


def make_example(doc: Doc, kind: int) -> Example:
    """Return an example with a label, two entities, and the same as spans."""
    entities = [doc[2:4], doc[10:13]]
    offsets = [(e.start_char, e.end_char, f"E{kind}") for e in entities]
    cats = {"A": kind, "B": 1 - kind}
    gold = {"cats": cats, "entities": offsets, "spans": {"sc": offsets}}
    return Example.from_dict(doc, gold)


def main(
    task: Annotated[str, typer.Option(help="textcat, ner or spancat")] = "textcat",
    layers: int = 6,
    width: int = 384,
    n_texts: int = 32,
    n_words: int = 38,
    repeat: int = 8,
) -> None:
    """Measure."""
    texts = make_texts(n_texts, n_words)
    names = (f"{task}_baseline", f"{task}_spanft")
    with tempfile.TemporaryDirectory() as folder:
        save_bert(Path(folder), layers, width)
        pipelines = {name: make_pipeline(name, Path(folder), texts) for name in names}
        jobs = {name: partial(_step, *made) for name, made in pipelines.items()}
        times = timed_in_turns(jobs, repeat, n_warm=2)
    before, after = (n_parameters(pipelines[name][0]) for name in names)
    print(f"an encoder of {layers} layers, width {width}")
    print(f"weights added: {after - before:,} ({after / before - 1:.1%})")
    report("training step", "s", times, names[1])


def _step(nlp: Language, examples: list[Example], optimizer: Any, turn: int) -> None:
    annotates = [name for name in nlp.pipe_names if name == "span_segmenter"]
    nlp.update(examples, sgd=optimizer, annotates=annotates)


if __name__ == "__main__":
    typer.run(main)
