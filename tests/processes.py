"""Processes of Python as a user starts them."""

import os
import subprocess
import sys
from subprocess import PIPE


def start(*args, cwd=".", stdout=PIPE, **environment):
    """Start `python ARGS`, with more variables in its environment."""
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", *map(str, args)],
        **{"cwd": cwd, "env": {**os.environ, **environment}},
        **{"stdin": PIPE, "stdout": stdout, "stderr": PIPE, "encoding": "utf8"},
    )


def run(*args, **settings):
    """Run `python ARGS` and return its exit code, stdout and stderr."""
    process = start(*args, **settings)
    stdout, stderr = process.communicate(timeout=300)
    return subprocess.CompletedProcess(args, process.returncode, stdout, stderr)
