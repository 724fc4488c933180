"""`python -m spacy spanft predict`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors.visible import visible
from ..ml.pairs import SEPARATOR
from .engine import Address, Engine, EngineName
from .util import OnBadBytes, short_errors


class InputFormat(Enum):
    """What is read."""

    parquet = "parquet"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    txt = "txt"


# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path", show_default=False)]  # noqa: E501
Input = Annotated[str, Argument(help="What to predict: .parquet, .jsonl, .csv, .tsv, or .txt with one text a line; but for the first, .gz, .bz2 and .zst are decompressed", show_default=False)]  # noqa: E501
Output = Annotated[Path, Argument(help="The file to write, .parquet or .jsonl", show_default=False)]  # noqa: E501
Format = Annotated[InputFormat | None, Option("--format", "-f", help="What the input is; if left out, its ending tells")]  # noqa: E501
Text = Annotated[str, Option(help="The column of the text, or of the first of two")]
TextPair = Annotated[str | None, Option(help="The column of the second text of a pair", show_default=False)]  # noqa: E501
Separator = Annotated[str, Option(help="Stands between the texts of a pair; that of the pipeline")]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="What to do about bytes that are no text")]  # noqa: E501
Prefix = Annotated[str, Option("--prefix", help="What the names of predicted columns begin with")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Write over an output that is there")]  # noqa: E501
Processes = Annotated[int, Option("--n-process", "-n", min=1, help="How many processes predict, if there are no GPUs")]  # noqa: E501
GpuIds = Annotated[str, Option("--gpu-id", "-g", help="The GPU, or several (0,1), each with a process of its own; -1 for the CPU")]  # noqa: E501
Code = Annotated[Path | None, Option("--code", "-c", help="A Python file that registers what the pipeline needs")]  # noqa: E501
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress bar, no report")]
# fmt: on


def predict_cli(
    model: Model,
    input_path: Input,
    output: Output,
    format: Format = None,
    text: Text = "text",
    text_pair: TextPair = None,
    separator: Separator = SEPARATOR,
    errors: BadBytes = OnBadBytes.strict,
    prefix: Prefix = "",
    force: Force = False,
    n_process: Processes = 1,
    gpu_id: GpuIds = "-1",
    engine: Engine = EngineName.local,
    address: Address = None,
    code: Code = None,
    quiet: Quiet = False,
) -> None:
    """Predict all rows of a file, however many, and go on after an interruption."""
    with short_errors():
        from ..experiments.matrix import read_gpus
        from ..prediction import predict

        found = predict(
            model,
            input_path,
            output,
            text=text,
            text_pair=text_pair,
            separator=separator,
            format=format and format.value,
            errors=errors.value,
            prefix=prefix,
            force=force,
            engine=engine.value,
            n_process=n_process,
            address=address,
            gpu_ids=read_gpus(gpu_id),
            code=None if code is None else str(code),
            progress=not quiet and sys.stderr.isatty(),
        )
        if found.failures is not None:
            failed = f"{found.n_failures:,} of {found.n_rows:,} rows"
            said = f"⚠ {failed} have no prediction: see {found.failures}"
            print(visible(said), file=sys.stderr)
        if not quiet:
            n_done = found.n_rows - found.n_failures
            said = f"✔ Wrote the predictions of {n_done:,} rows to {output}"
            print(visible(said), file=sys.stderr)
