"""A connection to Ray: to a running cluster, or to a new one on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import SpanftError
from . import require


@contextmanager
def connect_ray(address: str | None, n_cpus: int) -> Iterator[Any]:
    """Yield `ray`, connected to a cluster, or to a new one that ends with the block.

    An error in a task is raised as it was there, and a lost task as a SpanftError.

    address (Optional[str]): The cluster (HOST:PORT); None for the one that this process
        is connected to, that in $RAY_ADDRESS, or a new one of n_cpus.
    """
    require("Working on a cluster", "ray")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    address = address or os.environ.get("RAY_ADDRESS")
    is_ours = not ray.is_initialized()
    if is_ours:
        new = {} if address else {"num_cpus": n_cpus, "include_dashboard": False}
        try:
            ray.init(
                address or "local", log_to_driver=False, logging_level="ERROR", **new
            )
        except Exception as error:  # Ray raises various ones
            message = f"Ray cannot be reached at {address or 'this machine'}: {error}"
            raise SpanftError(message) from error
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise SpanftError(f"Ray lost a task: {error}") from error
    finally:
        if is_ours:
            ray.shutdown()
