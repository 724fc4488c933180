"""Trainings on a Ray cluster, each looked at as if it were a process here."""

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ...util.processes import fresh_context
from ...util.ray_engine import RayEngine
from .train_run import LOG, train_run


class RemoteProcess:
    """A process somewhere, with as much of `multiprocessing.Process` as a matrix uses.

    The folder it writes to, and whatever a config names, must be where it runs, too.
    """

    def __init__(self, engine: RayEngine, arguments: tuple[Any, ...]) -> None:
        """Prepare.

        engine (RayEngine): Where it runs.
        arguments (tuple): Those of `train_run`, but for the environment, which is that
            of the machine.
        """
        self._engine = engine
        self._arguments = arguments
        self._reference: Any = None
        self._folder = Path(arguments[0])
        self.pid: int | None = None
        self.exitcode: int | None = None
        # Readable when it is done: what waits for processes can wait for it.
        self.sentinel, self._end = os.pipe()

    def start(self) -> None:
        """Start it."""
        self._reference = self._engine.begin(_train, (os.getcwd(), self._arguments))
        self.pid = 0  # of another machine, it would say nothing
        self._reference.future().add_done_callback(self._note)

    def is_alive(self) -> bool:
        """Say whether it is not done."""
        return self.exitcode is None

    def terminate(self) -> None:
        """End it."""
        self._engine.cancel(self._reference)

    def join(self) -> None:
        """Do nothing: it writes to a folder that nobody else writes to."""

    def _note(self, future: "Future[int]") -> None:
        try:
            self.exitcode = future.result()
        except Exception as error:  # Ray tried it again, in vain
            with open(self._folder / LOG, "a", encoding="utf8") as log:
                reason = " ".join(str(error).split())
                log.write(f"\n\u2718 Ray lost its worker: {reason}\n")
            self.exitcode = 1
        os.close(self._end)


def _train(folder: str, arguments: tuple[Any, ...]) -> int:
    """Train in a process of its own, on whatever machine, and give its exit code.

    folder (str): Where paths in the config begin.
    arguments (tuple): Those of `train_run`, but for the environment.
    """
    os.chdir(folder)
    # Ray says in the environment of its worker which GPU it has.
    context: Any = fresh_context()
    args = (*arguments, dict(os.environ))
    process = context.Process(target=train_run, args=args, daemon=True)
    process.start()
    process.join()
    return int(process.exitcode)
