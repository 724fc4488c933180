"""`python -m spacy spanft card`."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import visible
from .util import short_errors

# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path, or its wheel", show_default=False)]  # noqa: E501
Output = Annotated[Path | None, Option("--output", "-o", help="The file to write, such as README.md in the pipeline's folder; by default, the standard output")]  # noqa: E501
Repo = Annotated[str | None, Option("--repo", "-r", help="The repository on the hub (USER/NAME), for the code that loads the pipeline")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing file")]
# fmt: on


def card_cli(
    model: Model, output: Output = None, repo: Repo = None, force: Force = False
) -> None:
    """Write the model card of a pipeline: its task, scores, data and dictionary."""
    with short_errors():
        from ..scale import model_card, opened
        from ..scale.publishing import check_repo
        from ..util.files import check_target, write_whole

        if repo is not None:
            check_repo(repo)
        if output is not None:
            check_target(output, force=force)
        with opened(model) as saved:
            card = model_card(saved, repo)
        if output is None:
            print(card, end="")
            return
        write_whole(output, card.encode())
        print(f"✔ Wrote {visible(str(output))}", file=sys.stderr)
