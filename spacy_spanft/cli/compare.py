"""`python -m spacy spanft compare`."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import ComparisonError, Errors
from .util import short_errors

# fmt: off
Arms = Annotated[list[str], Argument(help="Trained pipelines, each as PATH or ARM=PATH; the first arm is what the others are compared with, and an arm named again has several runs (seeds)", show_default=False)]  # noqa: E501
Data = Annotated[str, Option("--data", "-d", help="The test data: .spacy, or what the pipelines' own dev corpus reads", show_default=False)]  # noqa: E501
MetricName = Annotated[str | None, Option("--metric", "-m", help="The metric, such as cats_matthews; else what counts most in the pipeline's own score weights", show_default=False)]  # noqa: E501
PositiveLabel = Annotated[str | None, Option("--positive-label", "-p", help="The positive label, for cats_f1", show_default=False)]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", help="The GPU; -1 for the CPU")]
Resamples = Annotated[int, Option("--n-resamples", help="How often the bootstrap draws")]  # noqa: E501
Output = Annotated[Path | None, Option("--output", "-o", help="A folder for comparison.json and comparison.md", show_default=False)]  # noqa: E501
# fmt: on


def compare_cli(
    arms: Arms,
    data: Data,
    metric: MetricName = None,
    positive_label: PositiveLabel = None,
    gpu_id: GpuId = -1,
    n_resamples: Resamples = 1000,
    output: Output = None,
) -> None:
    """Compare trained pipelines on the same data: score, p, size, speed and memory."""
    with short_errors():
        import json

        from ..comparison import compare
        from ..comparison.markdown import to_markdown
        from ..files import write_whole

        if n_resamples < 1:
            message = Errors.BAD_OPTION.format(
                option="--n-resamples", value=n_resamples
            )
            raise ComparisonError(message)
        found = compare(
            group(arms),
            data,
            metric=metric,
            positive_label=positive_label,
            gpu_id=gpu_id,
            n_resamples=n_resamples,
        )
        table = to_markdown(found)
        print(table)
        if output is not None:
            text = json.dumps(found.to_json(), indent=2) + "\n"
            write_whole(output / "comparison.json", text.encode())
            write_whole(output / "comparison.md", table.encode())
            print(f"✔ Written to {output}", file=sys.stderr)


def group(arms: list[str]) -> dict[str, list[str]]:
    """Read which pipelines are runs of the same arm.

    arms (list[str]): Paths, or names and paths with = between them.
    RETURNS (dict[str, list[str]]): The paths of each arm.
    """
    found: dict[str, list[str]] = {}
    for arm in arms:
        name, is_named, path = arm.partition("=")
        if not is_named or Path(arm).exists():
            name, path = arm, arm
        if not name or not path:
            raise ComparisonError(Errors.BAD_ARM.format(arm=arm))
        found.setdefault(name, []).append(path)
    return found
