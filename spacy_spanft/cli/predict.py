"""`python -m spacy spanft predict`."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import counted, visible
from ..ml.pairs import SEPARATOR
from .util import Address, Engine, EngineName, OnBadBytes, short_errors


class InputFormat(str, Enum):
    """Formats of the input."""

    parquet = "parquet"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    txt = "txt"


# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path", show_default=False)]  # noqa: E501
Input = Annotated[str, Argument(help="Texts to annotate: .parquet, .jsonl, .csv, .tsv, or .txt with one text per line; all but Parquet can be compressed (.gz, .bz2, .zst)", show_default=False)]  # noqa: E501
Output = Annotated[Path, Argument(help="The file to write, .parquet or .jsonl", show_default=False)]  # noqa: E501
Format = Annotated[InputFormat | None, Option("--format", "-f", help="Format of the input, if its file name does not tell")]  # noqa: E501
Text = Annotated[str, Option(help="Column with the text, or with the first text of a pair")]  # noqa: E501
TextPair = Annotated[str | None, Option(help="Column with the second text of a pair", show_default=False)]  # noqa: E501
Separator = Annotated[str, Option(help="Separator between the texts of a pair, the same as in training")]  # noqa: E501
BadBytes = Annotated[OnBadBytes, Option("--errors", help="How to handle invalid UTF-8")]
Prefix = Annotated[str, Option("--prefix", help="Prefix for the names of predicted columns")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing output")]
Processes = Annotated[int, Option("--n-process", "-n", min=1, help="Number of processes on the CPU")]  # noqa: E501
GpuIds = Annotated[str, Option("--gpu-id", "-g", help="GPU ID, or several (0,1) with one process each; -1 for CPU")]  # noqa: E501
Code = Annotated[Path | None, Option("--code", "-c", help="Python file with registered functions that the pipeline needs")]  # noqa: E501
Quiet = Annotated[bool, Option("--quiet", "-q", help="Do not show progress or a summary")]  # noqa: E501
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
    """Predict all rows of a file, of any size. Rerun the command to resume it."""
    with short_errors():
        from ..errors import SpanftError
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
                text=text,
                text_pair=text_pair,
                separator=separator,
                format=None if format is None else format.value,
                errors=errors.value,
                prefix=prefix,
                force=force,
                engine=engine.value,
                n_process=n_process,
                address=address,
                gpu_ids=gpu_ids,
                code=None if code is None else str(code),
                progress=not quiet and sys.stderr.isatty(),
            )
        except KeyboardInterrupt:
            if Parts(output).is_begun:
                message = "The finished parts are kept. Run the same command to resume."
                print(message, file=sys.stderr)
            raise
        if predicted.failures is not None:
            failed = f"{predicted.n_failures:,} of {counted(predicted.n_rows, 'row')}"
            message = f"⚠ Without a prediction: {failed}. See {predicted.failures}"
            print(visible(message), file=sys.stderr)
        if not quiet:
            rows = counted(predicted.n_rows - predicted.n_failures, "row")
            message = f"✔ Wrote the predictions of {rows} to {output}"
            print(visible(message), file=sys.stderr)
