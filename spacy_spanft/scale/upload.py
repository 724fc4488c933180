"""Upload pipelines to the Hugging Face hub."""

import re
from pathlib import Path
from typing import NamedTuple

from ..errors import SpanftError
from .model_card import readme_of
from .saved_pipeline import opened


class Pushed(NamedTuple):
    """A pipeline on the hub: the address of its page, and its number of files."""

    url: str
    n_files: int


def push(
    model: str, repo: str, *, private: bool = False, message: str | None = None
) -> Pushed:
    """Upload a pipeline to the Hugging Face hub, in one commit.

    It gets a model card, unless its author wrote a README.md.

    model (str): The pipeline, by name or path; or a wheel that `spacy package` built,
        which is uploaded beside the files in it.
    repo (str): The repository, USER/NAME, which is created if necessary.
    private (bool): Whether nobody else may see it.
    message (Optional[str]): The message of the commit.
    RETURNS (Pushed): The pipeline on the hub.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    check_repo(repo)
    api = HfApi()
    with opened(model) as saved:
        files: dict[str, bytes | Path] = dict(saved.files())
        files["README.md"] = readme_of(saved, repo).encode()
        if saved.wheel is not None:
            files[saved.wheel.name] = saved.wheel
        operations = [CommitOperationAdd(name, file) for name, file in files.items()]
        message = message or f"Upload {saved.name} {saved.meta['version']}"
        try:
            url = api.create_repo(repo, private=private or None, exist_ok=True)
            if private and not api.model_info(repo).private:
                raise SpanftError(
                    f"{repo!r} already exists, and anybody can see it. Make it private "
                    f"in its settings on the hub, or omit --private."
                )
            api.create_commit(repo, operations, commit_message=message)
        except SpanftError:
            raise
        except Exception as error:  # the HTTP library depends on the hub's version
            raise SpanftError(
                f"The Hugging Face hub ({api.endpoint}) did not accept {repo!r}: "
                f"{error} Check that you are logged in (`hf auth login`, or set "
                f"HF_TOKEN) with a token that may write there."
            ) from error
    return Pushed(str(url), len(files))


def check_repo(repo: str) -> None:
    """Raise for what cannot be the name of a repository."""
    if not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", repo, re.ASCII):
        raise SpanftError(f"--repo is {repo!r}, but must be USER/NAME on the hub.")
