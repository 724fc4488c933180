"""Predictions as they come, a batch of texts at a time: memory does not grow."""

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

from ...errors import ComparisonError, Errors
from ...util.files import is_there
from ...util.pipelines import load

# Enough for libraries to choose their kernels, and for caches to fill.
_N_WARM_UP = 64


class Predictions:
    """What a pipeline says of the test data: examples, to be gone through once."""

    def __init__(self, path: str, data: str, gpu_id: int = -1):
        """Load the pipeline.

        path (str): The pipeline, by name or path.
        data (str): The test data: DocBins, or what its own dev corpus reads.
        gpu_id (int): The GPU; -1 for the CPU.
        """
        check_place(data)  # before anything is loaded
        self.path = path
        self.nlp = load(path, gpu_id)
        self.seconds = 0.0
        self._data, self._gpu_id = data, gpu_id

    def __iter__(self) -> Iterator[list[Example]]:
        """Predict batch by batch; `seconds` is how long that took so far.

        YIELDS (list[Example]): The Docs with its predictions, beside the right ones.
        """
        examples = read_examples(self.nlp, self._data)
        first = list(islice(examples, _N_WARM_UP))
        for _ in self._predict([example.predicted.copy() for example in first]):
            pass
        for batch in minibatch(chain(first, examples), self.nlp.batch_size):
            begin = time.perf_counter()
            docs = list(self._predict([example.predicted for example in batch]))
            self.seconds += time.perf_counter() - begin
            yield [
                Example(doc, example.reference)
                for doc, example in zip(docs, batch, strict=True)
            ]

    def _predict(self, docs: list[Doc]) -> Iterator[Doc]:
        yield from self.nlp.pipe(docs)
        if self._gpu_id >= 0:
            import torch

            # It waits for all that the GPU was given, by CuPy as well.
            torch.cuda.synchronize(self._gpu_id)


def read_examples(
    nlp: Language, data: str, config: Config | None = None
) -> Iterator[Example]:
    """Read the test data.

    nlp (Language): The pipeline that is to predict them.
    data (str): DocBins, or what the pipeline's own dev corpus reads.
    config (Optional[Config]): Its config, if the pipeline is only to become one.
    YIELDS (Example): Texts without annotations, beside those with the right ones.
    """
    corpus = _corpus(config or nlp.config, data)
    n_examples = 0
    try:
        for example in corpus(nlp):
            n_examples += 1
            yield example
    except Exception as error:  # whatever zlib and msgpack say of a broken file
        if not isinstance(corpus, Corpus):
            raise
        raise ComparisonError(Errors.BAD_DATA.format(path=data)) from error
    if not n_examples:
        raise ComparisonError(Errors.NO_ROWS.format(source=repr(data)))


def _corpus(config: Config, data: str) -> Any:
    """Read DocBins, or anything else as the pipeline's own dev data was read."""
    check_place(data)
    path = Path(data)
    if path.is_dir() or path.suffix == ".spacy":
        return Corpus(path)
    block = dict(config.interpolate().get("corpora", {}).get("dev", {}))
    if "corpus" in block:  # of which the dev data are a part
        block = dict(block["corpus"])
    if block.get("@readers", "spacy.Corpus.v1") == "spacy.Corpus.v1":
        raise ComparisonError(Errors.NOT_DOCBINS.format(path=data))
    found: Any = registry.resolve({"corpus": {**block, "path": data}})["corpus"]
    return found


def check_place(data: str) -> None:
    """Raise for test data that are not there, and for a folder of something else."""
    if not data or not is_there(data):
        raise ComparisonError(Errors.NOT_FOUND.format(path=data, cwd=str(Path.cwd())))
    path = Path(data)
    if path.is_dir() and next(path.rglob("*.spacy"), None) is None:
        raise ComparisonError(Errors.NO_DOCBINS.format(path=data))
