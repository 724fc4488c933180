"""`python -m spacy spanft predict`."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from ..errors import SpanftError, counted
from ..ml.pairs import SEPARATOR
from .options import (
    Address,
    BadBytes,
    Code,
    Engine,
    Force,
    GpuIds,
    Model,
    Quiet,
    Separator,
    Text,
    TextPair,
)
from .util import report

InputFormat = Literal["parquet", "jsonl", "csv", "tsv", "txt"]


def predict_cli(
    model: Model,
    input_path: Annotated[str, Argument(help="Texts to annotate: .parquet, .jsonl, .csv, .tsv, or .txt with one text per line; all but Parquet can be compressed (.gz, .bz2, .zst)")],  # noqa: E501
    output: Annotated[Path, Argument(help="The file to write, .parquet or .jsonl")],
    format: Annotated[InputFormat | None, Option("--format", "-f", help="Format of the input, if its file name does not tell")] = None,  # noqa: E501
    text: Text = "text",
    text_pair: TextPair = None,
    separator: Separator = SEPARATOR,
    errors: BadBytes = "strict",
    prefix: Annotated[str, Option("--prefix", help="Prefix for the names of predicted columns")] = "",  # noqa: E501
    force: Force = False,
    n_process: Annotated[int, Option("--n-process", "-n", min=1, help="Number of processes on CPU")] = 1,  # noqa: E501
    gpu_id: GpuIds = "-1",
    engine: Engine = "local",
    address: Address = None,
    code: Code = None,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Predict all rows of a file, of any size. Rerun the command to resume it."""
    from ..scale import Parts, predict

    try:
        gpu_ids = [int(number) for number in gpu_id.split(",")]
    except ValueError as error:
        message = f"--gpu-id is {gpu_id!r}, but must be a number, or several: 0,1"
        raise SpanftError(message) from error
    try:
        predicted = predict(
            model,
            input_path,
            output,
            text=text or "text",
            text_pair=text_pair,
            separator=separator,
            format=format,
            errors=errors,
            prefix=prefix,
            force=force,
            engine=engine,
            n_process=n_process,
            address=address,
            gpu_ids=gpu_ids,
            code=None if code is None else str(code),
            progress=not quiet and sys.stderr.isatty(),
        )
    except KeyboardInterrupt:
        if Parts(output).is_begun:
            report("The finished parts are kept. Run the same command to resume.")
        raise
    if predicted.n_failures:
        failed = f"{predicted.n_failures:,} of {counted(predicted.n_rows, 'row')}"
        report(f"⚠ Without a prediction: {failed}. See the column {prefix}error.")
    if not quiet:
        report(f"✔ Wrote {counted(predicted.n_rows, 'row')} to {output}")
