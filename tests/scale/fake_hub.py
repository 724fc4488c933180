"""A Hugging Face hub in memory, in place of the few calls that ask for the real one."""

from contextlib import contextmanager
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import RepoUrl
from huggingface_hub.utils import validate_repo_id

ENDPOINT = "https://huggingface.co"


class Hub:
    """The files of each repository, {path: bytes}, and what went on."""

    endpoint = ENDPOINT

    def __init__(self, cache):
        self.repos, self.private, self.messages, self.refused = {}, set(), [], ""
        self.cache = cache

    def create_repo(self, repo_id, *, private=None, exist_ok=False):
        validate_repo_id(repo_id)
        if self.refused:
            raise RuntimeError(self.refused)
        if repo_id not in self.repos:
            self.repos[repo_id] = {}
            self.private |= {repo_id} if private else set()
        return RepoUrl(f"{ENDPOINT}/{repo_id}")

    def model_info(self, repo_id):
        return SimpleNamespace(private=repo_id in self.private)

    def create_commit(self, repo_id, operations, *, commit_message):
        for operation in operations:
            with operation.as_file() as file:
                self.repos[repo_id][operation.path_in_repo] = file.read()
        self.messages.append(commit_message)

    def download(self, repo_id):
        for name, data in self.repos[repo_id].items():
            path = self.cache / repo_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return str(self.cache / repo_id)


@contextmanager
def fake_hub(cache):
    hub = Hub(cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(huggingface_hub, "HfApi", lambda: hub)
        patch.setattr(huggingface_hub, "snapshot_download", hub.download)
        yield hub
