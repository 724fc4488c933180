"""The test data, and a pipeline's predictions for it, batch by batch."""

import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from confection import Config
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example
from spacy.util import minibatch, registry

from ...errors import ComparisonError, shown
from ...util.files import is_there
from ...util.pipelines import load
from ..cost import n_parameters

# Enough for libraries to choose their kernels, and for caches to fill.
_N_WARM_UP = 64


class Predictions:
    """A pipeline's predictions: batches of examples, to be iterated over once."""

    def __init__(self, path: str, data: str, gpu_id: int = -1):
        """Load the pipeline.

        path (str): The pipeline, by name or path.
        data (str): The test data: DocBins, or what its own dev corpus reads.
        gpu_id (int): The GPU; -1 for the CPU.
        """
        check_place(data)  # before anything is loaded
        self.nlp = load(path, gpu_id)
        self.n_parameters: int | None = n_parameters(self.nlp)
        self.seconds: float | None = 0.0
        self._data, self._gpu_id = data, gpu_id

    def __iter__(self) -> Iterator[list[Example]]:
        """Predict batch by batch, and add up the time in `seconds`."""
        examples = read_examples(self.nlp, self._data)
        first = list(islice(examples, _N_WARM_UP))
        self._predict([example.predicted.copy() for example in first])
        total = 0.0
        for batch in minibatch(chain(first, examples), self.nlp.batch_size):
            begin = time.perf_counter()
            docs = self._predict([example.predicted for example in batch])
            total += time.perf_counter() - begin
            self.seconds = total
            pairs = zip(docs, batch, strict=True)
            yield [Example(doc, example.reference) for doc, example in pairs]

    def _predict(self, docs: list[Doc]) -> list[Doc]:
        docs = list(self.nlp.pipe(docs))
        if self._gpu_id >= 0:
            import torch

            # It waits for CuPy's work as well.
            torch.cuda.synchronize(self._gpu_id)
        return docs


def read_examples(
    nlp: Language, data: str, config: Config | None = None
) -> Iterator[Example]:
    """Read the test data.

    nlp (Language): The pipeline that will predict it.
    data (str): DocBins, or what the pipeline's own dev corpus reads.
    config (Optional[Config]): Its config, if the pipeline is not trained yet.
    YIELDS (Example): Texts without annotations, and with the right ones.
    """
    corpus = _corpus(config or nlp.config, data)
    is_empty = True
    try:
        for example in corpus(nlp):
            is_empty = False
            yield example
    except Exception as error:  # zlib and msgpack raise various ones
        if not isinstance(corpus, Corpus):
            raise
        raise ComparisonError(
            f"{data!r} cannot be read: it is no DocBin, or damaged."
        ) from error
    if is_empty:
        raise ComparisonError(f"There are no rows in {data!r}.")


def _corpus(config: Config, data: str) -> Any:
    check_place(data)
    path = Path(data)
    if path.is_dir() or path.suffix == ".spacy":
        return Corpus(path)
    block = dict(config.interpolate().get("corpora", {}).get("dev", {}))
    if "corpus" in block:  # of which the dev data is a part
        block = dict(block["corpus"])
    if block.get("@readers", "spacy.Corpus.v1") == "spacy.Corpus.v1":
        raise ComparisonError(
            f"{data!r} does not end in .spacy, and the pipeline reads only DocBins. "
            f"Convert it with `spacy spanft convert`."
        )
    resolved: Any = registry.resolve({"corpus": {**block, "path": data}})
    return resolved["corpus"]


def check_place(data: str) -> None:
    """Raise for test data that does not exist, and for a folder without DocBins."""
    if not data or not is_there(data):
        raise ComparisonError(f"There is no file {shown(data)}.")
    path = Path(data)
    if path.is_dir() and next(path.rglob("*.spacy"), None) is None:
        raise ComparisonError(f"There is no .spacy file in the folder {data!r}.")
