"""`python -m spacy spanft predict | card | push`: what trained pipelines do."""

import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ..errors import counted, report
from ..util.tables import Format
from . import options as opt
from .util import given, report_guess


def predict_cli(
    model: opt.Model,
    input_path: Annotated[str, Argument(help="Texts to annotate: .parquet, .jsonl, .csv, .tsv, or .txt with one text per line; all but Parquet can be compressed (.gz, .bz2, .zst)")],  # noqa: E501
    output: Annotated[Path, Argument(help="The file to write: .csv, .jsonl or .parquet")],  # noqa: E501
    format: Annotated[Format | None, Option("--format", "-f", help="Format of the input, if the file name does not show it")] = None,  # noqa: E501
    text: opt.Text = None,
    text_pair: opt.TextPair = None,
    separator: opt.Separator = None,
    errors: opt.BadBytes = "strict",
    encoding: opt.Encoding = "utf-8",
    prefix: Annotated[str, Option("--prefix", help="Prefix for the names of predicted columns; default: none, or predicted_ if the input has such columns")] = "",  # noqa: E501
    force: opt.Force = False,
    n_process: Annotated[int, Option("--n-process", "-n", min=1, help="Number of processes on CPU")] = 1,  # noqa: E501
    gpu_id: opt.GpuIds = "-1",
    engine: opt.Engine = "local",
    address: opt.Address = None,
    code: opt.Code = None,
    quiet: opt.Quiet = False,
) -> None:  # fmt: skip
    """Predict all rows of a file, of any size.

    Rerun the command to resume it.
    """
    from ..scale.parts import Parts
    from ..scale.prediction import find_source, predict
    from ..util.gpu import read_gpus

    gpu_ids, typed = read_gpus(gpu_id), given(text=text, text_pair=text_pair)
    how: Any = {"errors": errors, "encoding": encoding, "separator": separator}
    how |= {"format": format, "prefix": prefix, **typed}
    source = find_source(model, input_path, **how)
    if not quiet:
        report_guess(given(text=source.text, text_pair=source.text_pair), typed)
    if source.prefix != prefix and not quiet:
        report(f"ℹ To keep the input's columns, new ones begin with {source.prefix}")
    try:
        predicted = predict(
            model,
            input_path,
            output,
            force=force,
            engine=engine,
            n_process=n_process,
            address=address,
            gpu_ids=gpu_ids,
            code=None if code is None else str(code),
            progress=not quiet and sys.stderr.isatty(),
            **how,
        )
    except KeyboardInterrupt:
        if Parts(output).is_begun:
            report("The finished parts are kept. Run the same command to resume.")
        raise
    if predicted.n_failures:
        failed = f"{predicted.n_failures:,} of {counted(predicted.n_rows, 'row')}"
        report(f"⚠ Without a prediction: {failed}. See column {source.prefix}error.")
    if not quiet:
        report(f"✔ Wrote {counted(predicted.n_rows, 'row')} to {output}")


def card_cli(
    model: opt.Model,
    output: Annotated[Path | None, Option("--output", "-o", help="The file to write, such as README.md in the pipeline's folder; by default, the standard output")] = None,  # noqa: E501
    repo: Annotated[str | None, Option("--repo", "-r", help="The repository on the hub (USER/NAME), for the code that loads the pipeline")] = None,  # noqa: E501
    force: opt.Force = False,
) -> None:  # fmt: skip
    """Write the model card of a pipeline.

    It has its task, scores, data and dictionary.
    """
    from ..scale import model_card, read_saved
    from ..util.files import check_target, write_whole

    if output is not None:
        check_target(output, force=force)
    card = model_card(read_saved(model), repo)
    if output is None:
        print(card, end="")
        return
    write_whole(output, card.encode())
    report(f"✔ Wrote {output}")


def push_cli(
    model: opt.Model,
    *,
    repo: Annotated[str, Option("--repo", "-r", help="The repository (USER/NAME), created if necessary")],  # noqa: E501
    private: Annotated[bool, Option("--private", help="Let nobody else see the repository")] = False,  # noqa: E501
    message: Annotated[str | None, Option("--message", "-m", help="The message of the commit")] = None,  # noqa: E501
) -> None:  # fmt: skip
    """Upload a pipeline to the Hugging Face hub.

    Its model card goes with it.
    """
    from ..scale import push

    url = push(model, repo, private=private, message=message)
    print(f"✔ Uploaded {model} to {url}")
