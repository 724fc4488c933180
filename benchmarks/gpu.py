"""Training steps a second and peak memory on a GPU, after the tests for GPUs.

    make gpu-check

It measures the baseline and the span config, with and without mixed precision, over a
BERT-base with random weights, and the head alone, ragged and padded (r = 64, l = 16).
"""

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import typer
from wasabi.tables import table

ARMS = ("textcat_baseline", "textcat_spanft")


def why_not() -> str | None:
    """Return the reason why no GPU can be used, if there is one."""
    import torch

    if not torch.cuda.is_available():
        return "PyTorch sees no CUDA device"
    if find_spec("cupy") is None:
        cuda = str(torch.version.cuda).partition(".")[0]
        return f"cupy is not installed (pip install cupy-cuda{cuda}x)"
    return None


def measure(step: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Return the median seconds and the peak megabytes of a step."""
    import torch
    from thinc.backends import context_pools

    # Pipelines refer to themselves, so the last one is still here; and CuPy's pool
    # keeps what it took from PyTorch.
    gc.collect()
    for pool in context_pools.get().values():
        pool.free_all_blocks()
    torch.cuda.empty_cache()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return median(times), torch.cuda.max_memory_allocated() / 2**20


def training_rows(n_texts: int, n_words: int, repeat: int) -> list[tuple[str, ...]]:
    """Return the rows of training steps."""
    from .step import _step, make_pipeline, make_texts, save_bert

    rows: list[tuple[str, ...]] = []
    texts = make_texts(n_texts, n_words)
    with tempfile.TemporaryDirectory() as folder:
        save_bert(Path(folder), layers=12, width=768)
        for mixed in (False, True):
            key = "components.transformer.model.precision"
            precision = "fp16" if mixed else "single"
            for arm in ARMS:
                made = make_pipeline(arm, Path(folder), texts, **{key: precision})
                # Nothing else may keep the pipeline: see `measure`.
                nlp, examples, optimizer = made[:3]
                step: Any = partial(_step, nlp, examples, optimizer, 0)
                del made, nlp, examples, optimizer
                seconds, megabytes = measure(step, repeat)
                del step
                name = f"train, {arm}, {'mixed' if mixed else 'full'} precision"
                rows.append((name, f"{1 / seconds:.2f}", f"{megabytes:,.0f}"))
    return rows


def head_rows(n_docs: int, n_rows: int, repeat: int) -> list[tuple[str, ...]]:
    """Return the rows of the head alone."""
    import torch

    from .head import make_pieces, ours, padded

    docs = make_pieces(n_docs, n_rows)
    contestants: dict[str, Callable[[], Callable[[], Any]]] = {
        "ragged": lambda: ours(docs, n_rows, 768),
        "padded": lambda: padded(docs, n_rows, 768, by_loops=False),
    }
    rows: list[tuple[str, ...]] = []
    for name, make in contestants.items():
        with torch.device("cuda"):
            step = make()
        seconds, megabytes = measure(step, repeat)
        del step
        rows.append((f"head, {name}", f"{1 / seconds:.2f}", f"{megabytes:,.0f}"))
    return rows


def main(
    n_texts: int = 32, n_words: int = 38, n_rows: int = 40, repeat: int = 20
) -> None:
    """Measure, and print one table."""
    reason = why_not()
    if reason:
        print(f"There is no GPU to measure on: {reason}. Nothing was measured.")
        sys.exit(0)
    tests = (sys.executable, "-m", "pytest", "--gpu", "-m", "gpu")
    if code := subprocess.run(tests).returncode:
        sys.exit(code)
    import torch
    from thinc.api import require_gpu, set_gpu_allocator

    require_gpu()
    set_gpu_allocator("pytorch")
    rows = training_rows(n_texts, n_words, repeat) + head_rows(n_texts, n_rows, repeat)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{n_texts} texts a step, {n_words} words or {n_rows} wordpieces each")
    header = ("", "steps/s", "peak MB")
    print(table(rows, header=header, divider=True, aligns=("l", "r", "r")))


if __name__ == "__main__":
    typer.run(main)
