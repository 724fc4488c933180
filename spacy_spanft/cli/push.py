"""`python -m spacy spanft push`."""

from typing import Annotated

from typer import Argument, Option

from .util import short_errors

# fmt: off
Model = Annotated[str, Argument(help="A trained pipeline, by name or path; or its wheel, which is uploaded, too", show_default=False)]  # noqa: E501
Repo = Annotated[str, Option("--repo", "-r", help="The repository (USER/NAME), created if necessary")]  # noqa: E501
Private = Annotated[bool, Option("--private", help="Let nobody else see the repository")]  # noqa: E501
Message = Annotated[str | None, Option("--message", "-m", help="The message of the commit")]  # noqa: E501
# fmt: on


def push_cli(
    model: Model, *, repo: Repo, private: Private = False, message: Message = None
) -> None:
    """Upload a pipeline to the Hugging Face hub, with its model card."""
    with short_errors():
        from ..scale import push

        pushed = push(model, repo, private=private, message=message)
        print(f"✔ Uploaded {pushed.n_files} files to {pushed.url}")
