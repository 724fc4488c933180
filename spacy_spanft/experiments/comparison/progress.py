"""How far a comparison is: a bar in a terminal, a line for each elsewhere."""

import sys
from collections.abc import Iterator, Sequence

from ...errors.visible import visible

Job = tuple[str, list[str]]


def watched(jobs: Sequence[Job], unit: str) -> Iterator[Job]:
    """Give one job after the other, and say which are done, if there are several.

    jobs (Sequence[tuple[str, list[str]]]): For each the arm, and its pipelines.
    unit (str): What they are called, such as "pipelines".
    YIELDS (tuple[str, list[str]]): The jobs.
    """
    if sys.stderr.isatty():
        yield from _with_bar(jobs, unit)
        return
    for number, (arm, paths) in enumerate(jobs, 1):
        yield arm, paths
        if len(jobs) > 1:
            what = visible(f"{arm} ({', '.join(paths)})" if paths != [arm] else arm)
            said = f"{number} of {len(jobs)} {unit} measured: {what}"
            print(said, file=sys.stderr, flush=True)


def _with_bar(jobs: Sequence[Job], unit: str) -> Iterator[Job]:
    from tqdm import tqdm

    with tqdm(jobs, "Measuring", unit=f" {unit}", leave=False) as bar:
        for arm, paths in bar:
            bar.set_postfix_str(visible(arm))
            yield arm, paths
