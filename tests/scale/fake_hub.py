"""A Hugging Face hub on this machine: what uploads and downloads of models ask of it.

It answers as the real one does, and keeps what it is given in memory. A file of more
than MOST bytes goes through the large file storage, as there.
"""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants, file_download

SHA = "a" * 40
TOKEN = "hf_of_the_tests"
MOST = 10_000


class Hub:
    """What the hub holds, and what it refuses."""

    def __init__(self):
        self.repos = {}  # for each repository its files, {path: bytes}
        self.refuse = {}  # {part of a path: (status, message)}
        self.stored = {}  # what came as large files, {digest: bytes}
        self.private, self.tokens = set(), set()
        self.messages, self.asked = [], []


@contextmanager
def fake_hub(cache):
    """Run a hub, and let huggingface_hub ask it and no other, with a token."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = "HUGGINGFACE_CO_URL_TEMPLATE"
    template = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "ENDPOINT", hub.endpoint)
        for module in (constants, file_download):
            patch.setattr(module, name, template, raising=False)
        patch.setattr(constants, "HF_HUB_CACHE", str(cache))
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        # The protocol of new versions for large files: not HTTP alone.
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        patch.setenv("HF_TOKEN", TOKEN)
        yield hub
    server.shutdown()
    server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        """Print nothing."""

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        self.hub.tokens.add(self.headers.get("Authorization"))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Type", "").endswith(("/json", "+json")):
            body = json.loads(body)
        for part, (status, message) in self.hub.refuse.items():
            if part in path:
                self._send(json.dumps({"error": message}).encode(), status)
                return
        answer = self._route(path, body)
        if answer is None:
            self._send(b'{"error": "not here"}', 404)
        elif isinstance(answer, bytes):
            headers = {
                "ETag": f'"{hashlib.sha256(answer).hexdigest()}"',
                "X-Repo-Commit": SHA,
            }
            self._send(answer, 200, headers)
        else:
            status = answer.pop("status", 200) if isinstance(answer, dict) else 200
            self._send(json.dumps(answer).encode(), status)

    do_POST = do_PUT = do_HEAD = do_GET

    def _send(self, data, status, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _route(self, path, body):
        hub = self.hub
        if path == "/api/repos/create":
            return self._create(body)
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path.startswith("/store/"):
            hub.stored[path.removeprefix("/store/")] = body
            return {}
        if path.endswith("/info/lfs/objects/batch"):
            store = f"{hub.endpoint}/store/"
            objects = [
                {**wanted, "actions": {"upload": {"href": store + wanted["oid"]}}}
                for wanted in body["objects"]
            ]
            return {"transfer": "basic", "objects": objects}
        _, *parts = path.split("/")
        if parts[:2] == ["api", "models"]:
            repo, what = "/".join(parts[2:4]), parts[4:5]
            if repo not in hub.repos:
                return None
            if what == ["preupload"]:
                modes = [
                    {
                        "path": file["path"],
                        "uploadMode": "lfs" if file["size"] > MOST else "regular",
                        "shouldIgnore": False,
                    }
                    for file in body["files"]
                ]
                return {"files": modes}
            if what == ["commit"]:
                return self._commit(repo, body)
            files = hub.repos[repo].items()
            if what == ["tree"]:
                return [
                    {"type": "file", "path": path, "size": len(data), "oid": SHA}
                    for path, data in files
                ]
            names = [{"rfilename": name} for name, _ in files]
            is_private = repo in hub.private
            return {"id": repo, "sha": SHA, "private": is_private, "siblings": names}
        if parts[2:3] == ["resolve"]:
            return hub.repos.get("/".join(parts[:2]), {}).get("/".join(parts[4:]))
        return None

    def _create(self, body):
        repo = f"{body.get('organization')}/{body['name']}"
        is_new = repo not in self.hub.repos
        if is_new:
            self.hub.repos[repo] = {}
            if body.get("private") or body.get("visibility") == "private":
                self.hub.private.add(repo)
        return {"url": f"{self.hub.endpoint}/{repo}", "status": 200 if is_new else 409}

    def _commit(self, repo, body):
        for change in map(json.loads, body.splitlines()):
            value, files = change["value"], self.hub.repos[repo]
            if change["key"] == "header":
                self.hub.messages.append(value["summary"])
            elif change["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            else:
                files[value["path"]] = self.hub.stored[value["oid"]]
        url = f"{self.hub.endpoint}/{repo}/commit/{SHA}"
        return {"commitUrl": url, "commitOid": SHA, "success": True}
