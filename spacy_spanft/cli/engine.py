"""Where a command computes."""

from enum import Enum
from typing import Annotated

from typer import Option


class EngineName(Enum):
    """Where tasks run."""

    local = "local"
    ray = "ray"


# fmt: off
Engine = Annotated[EngineName, Option(help="Where it is computed: on this machine, or on a Ray cluster")]  # noqa: E501
Address = Annotated[str | None, Option(help="Where the Ray cluster is (HOST:PORT); else one is started here", show_default=False)]  # noqa: E501
# fmt: on
