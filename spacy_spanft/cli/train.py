"""`python -m spacy spanft train`, which `torchrun` starts."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from .util import read_overrides, short_errors

# fmt: off
Config = Annotated[Path, Argument(help="The config", show_default=False)]
Output = Annotated[Path | None, Option("--output", "-o", help="Directory to save the pipelines to", show_default=False)]  # noqa: E501
Code = Annotated[Path | None, Option("--code", "-c", help="Python file with registered functions that the config needs")]  # noqa: E501
GpuId = Annotated[int, Option("--gpu-id", "-g", min=-1, help="0 to give each process its own GPU; -1 for CPU")]  # noqa: E501
# fmt: on


def train_cli(
    ctx: Context,
    config_path: Config,
    output: Output = None,
    code: Code = None,
    gpu_id: GpuId = -1,
) -> None:
    """Train as `spacy train` does, in several processes or on several GPUs.

    Started by torchrun --nproc-per-node 4 -m spacy spanft train CONFIG. Settings are
    given as to `spacy train`: --training.max_steps 10.
    """
    with short_errors():
        from ..errors import SpanftError
        from ..training.parallel import train_in_group
        from ..util._compat import import_code
        from ..util.files import check_folder, check_source

        if gpu_id > 0:
            raise SpanftError(
                f"--gpu-id is {gpu_id}, but each process has the GPU of its own "
                "number. Use --gpu-id 0, and CUDA_VISIBLE_DEVICES to choose GPUs."
            )
        for path in (config_path, *([code] if code is not None else [])):
            check_source(path)
        if output is not None:
            check_folder(output)
        overrides = read_overrides(ctx.args)
        import_code(code)
        train_in_group(config_path, output, overrides, on_gpus=gpu_id >= 0)
