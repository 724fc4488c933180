"""Says how far a matrix is: a bar in a terminal, else a line for each training."""

import sys
from collections.abc import Sequence
from types import TracebackType

from tqdm import tqdm

from .plan import Run


class Progress:
    """Tells the standard error of trainings as they end."""

    def __init__(self, runs: Sequence[Run], left: Sequence[Run], n_jobs: int) -> None:
        """Say how much there is to do.

        left (Sequence[Run]): Those that are to be done.
        n_jobs (int): How many run at the same time.
        """
        self.n_jobs = n_jobs
        self.n_words_left = sum(run.n_words for run in left)
        self.n_words_done = 0
        self.seconds = 0.0
        n_done = len(runs) - len(left)
        are = "is" if n_done == 1 else "are"
        _say(f"{len(runs)} runs, {n_done} {are} done, {n_jobs} at a time")
        # None: no bar where there is no terminal.
        self.bar = tqdm(total=len(runs), initial=n_done, unit=" runs", disable=None)
        # A bar that is not shown does not count.
        self.n_done, self.n_runs = n_done, len(runs)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.close()

    def begin(self, run: Run) -> None:
        """Show what is trained now.

        run (Run): The run that begins.
        """
        self.bar.set_postfix_str(_name(run))

    def finish(self, run: Run, seconds: float, score: float | None) -> None:
        """Tell of a run that is done.

        seconds (float): How long it took.
        score (Optional[float]): The score of its best evaluation.
        """
        self.seconds += seconds
        self.n_words_done += run.n_words
        self._count(run)
        if self.bar.disable:
            scored = "" if score is None else f"score {score:.4f}, "
            text = f"{_name(run)}: {scored}{_duration(seconds)}"
            _say(f"{self._place()} {text}{self._time_left()}")

    def fail(self, run: Run, reason: str) -> None:
        """Tell of a run that failed.

        reason (str): Why.
        """
        self._count(run)
        _say(f"✘ {self._place()} {_name(run)}: {reason}")

    def _count(self, run: Run) -> None:
        self.n_done += 1
        self.n_words_left -= run.n_words
        self.bar.update()

    def _place(self) -> str:
        return f"{self.n_done}/{self.n_runs}"

    def _time_left(self) -> str:
        if not self.n_words_left or not self.n_words_done:
            return ""
        left = self.seconds / self.n_words_done * self.n_words_left / self.n_jobs
        return f", about {_duration(left)} left"


def _name(run: Run) -> str:
    return f"{run.task} {run.arm} {run.seed}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _say(text: str) -> None:
    tqdm.write(text, file=sys.stderr)  # above the bar, if there is one
    sys.stderr.flush()
