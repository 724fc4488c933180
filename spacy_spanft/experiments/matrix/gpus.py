"""The GPUs that a matrix has, one for each training at a time."""

from collections.abc import Sequence

from ...errors import Errors, SpanftError, shown
from ...util.gpu import CPU


def read_gpus(text: str) -> list[int]:
    """Read the GPUs that are to be used.

    text (str): Their numbers: "0", or "0,1"; "0,0" for two trainings on the same one,
        and "-1" for the CPU.
    RETURNS (list[int]): The numbers.
    """
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise SpanftError(Errors.BAD_GPUS.format(value=shown(text))) from error
    if min(found) < CPU or (CPU in found and len(found) > 1):
        raise SpanftError(Errors.BAD_GPUS.format(value=shown(text)))
    return found


def places_of(gpu_ids: int | Sequence[int], n_jobs: int) -> list[int]:
    """Give the places where trainings can run at the same time.

    gpu_ids (Union[int, Sequence[int]]): The GPUs, each as often as it may be used at a
        time; -1 for the CPU.
    n_jobs (int): How many trainings run at the same time.
    RETURNS (list[int]): A GPU for each of them, or -1.
    """
    found = [gpu_ids] if isinstance(gpu_ids, int) else list(gpu_ids)
    if found == [CPU]:
        return found * n_jobs
    if len(found) < n_jobs:
        again = ",".join(map(str, (found * n_jobs)[:n_jobs]))
        place = {"n_jobs": n_jobs, "gpus": ",".join(map(str, found)), "again": again}
        raise SpanftError(Errors.TOO_FEW_GPUS.format(**place))
    return found
