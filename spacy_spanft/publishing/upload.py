"""Uploads pipelines to the Hugging Face hub."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Errors, SpanftError
from ..util._compat import readme_of_spacy
from .card import front_matter, has_front_matter, model_card
from .saved import Saved, opened

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_README = "README.md"
_MESSAGE = "Upload {name} {version}"
# What huggingface_hub lets through, and the hub itself: ASCII alone.
_PART = r"\w(?:[\w.-]{0,94}\w)?"
_REPO = re.compile(f"{_PART}/{_PART}", re.ASCII)
# Whatever the hub is asked goes through one of these, by version of huggingface_hub.
_HTTP = ("requests", "httpx", "httpx2")
_UNAUTHORIZED, _FORBIDDEN = 401, 403


class Pushed(NamedTuple):
    """A pipeline on the hub.

    url (str): Its page.
    n_files (int): How many files it has.
    """

    url: str
    n_files: int


def push(
    model: str,
    repo: str,
    *,
    private: bool = False,
    message: str | None = None,
) -> Pushed:
    """Upload a pipeline to the Hugging Face hub, in one commit.

    A model card is made where there is none, or only the README.md of `spacy package`.

    model (str): The pipeline, by name or path; or a wheel that `spacy package` built,
        which is uploaded too.
    repo (str): The repository, USER/NAME; it is made if there is none.
    private (bool): Whether nobody else may see it.
    message (Optional[str]): The message of the commit.
    RETURNS (Pushed): The pipeline on the hub.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    check_repo(repo)
    api = HfApi()
    with opened(model) as saved:
        if get_token() is None:
            raise SpanftError(Errors.NOT_LOGGED_IN)
        files: dict[str, str | bytes] = {k: str(v) for k, v in saved.files().items()}
        files[_README] = readme(saved, repo).encode()
        if saved.wheel is not None:
            files[saved.wheel.name] = str(saved.wheel)
        name, version = saved.name, saved.meta["version"]
        with _told(repo, api.endpoint):
            url = str(api.create_repo(repo, private=private or None, exist_ok=True))
            if private:
                _check_private(api, repo)
            api.create_commit(
                repo,
                [CommitOperationAdd(where, what) for where, what in files.items()],
                commit_message=message or _MESSAGE.format(name=name, version=version),
            )
    return Pushed(url, len(files))


def readme(saved: Saved, repo: str) -> str:
    """Take the README.md of a pipeline, or make one.

    saved (Saved): The pipeline.
    repo (str): The name that it has on the hub.
    RETURNS (str): What its author has written, with what the hub reads at the top; the
        model card, if that is nothing.
    """
    path = saved.folder / _README
    if not path.is_file():
        return model_card(saved, repo)
    text = path.read_text("utf8", "replace")
    if has_front_matter(text):
        return text
    if text == readme_of_spacy(saved.meta):
        return model_card(saved, repo)
    return f"{front_matter(saved)}\n{text}"


def check_repo(repo: str) -> None:
    """Raise for what cannot be the name of a repository."""
    is_name = _REPO.fullmatch(repo) and not re.search(r"--|\.\.|\.git$", repo)
    if not is_name:
        raise SpanftError(Errors.BAD_REPO.format(repo=repo))


def _check_private(api: "HfApi", repo: str) -> None:
    """Raise for a repository that was there before, and that anybody may see."""
    if not api.model_info(repo).private:
        raise SpanftError(Errors.PUBLIC_REPO.format(repo=repo))


@contextmanager
def _told(repo: str, endpoint: str) -> Iterator[None]:
    """Say what the user can do about an answer of the hub, or about none."""
    try:
        yield
    except SpanftError:
        raise
    except Exception as error:
        # What goes wrong with a large file comes wrapped in another error.
        causes = [error, error.__cause__]
        for cause in filter(None, causes):
            if message := _message_of(cause, repo, endpoint):
                raise SpanftError(message) from error
        raise


def _message_of(error: BaseException, repo: str, endpoint: str) -> str | None:
    from huggingface_hub.errors import HfHubHTTPError

    if isinstance(error, HfHubHTTPError):
        status = getattr(error.response, "status_code", None)
        if status == _UNAUTHORIZED:
            return Errors.BAD_TOKEN
        reason = error.server_message or str(error).strip().partition("\n")[0]
        is_forbidden = status == _FORBIDDEN
        message = Errors.NO_RIGHTS if is_forbidden else Errors.HUB_REFUSED
        return message.format(repo=repo, reason=reason)
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    if isinstance(error, ConnectionError) or packages & set(_HTTP):
        reason = str(error)
        return Errors.NO_HUB.format(endpoint=endpoint, reason=reason)
    if isinstance(error, ValueError) and "metadata" in str(error):
        return Errors.BAD_CARD.format(reason=error)
    return None
