"""Measure and record the speed claims of the docs, and fill their page.

    python -m benchmarks.speed run
    python -m benchmarks.speed run --data DATA --encoder ENCODER --only encoder
    python -m benchmarks.speed page

On an idle machine, the commands that need no data take a few minutes (`make bench`),
all of them about two hours. DATA is a folder with enwiki2015.txt.zst,
wikitext103.valid.tokens, glue/SST-2, glue/CoLA and ner/wikigold, ENCODER one of
all-MiniLM-L6-v2. The new records of a command replace its old ones; the page is made
from the records alone.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from wasabi import msg

from .claims import CLAIMS, Claim
from .matrix import read_done
from .report import RECORD_TO, number, ratios_of, show
from .results_page import filled

RECORDS = Path(__file__).parent / "results" / "speed.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "benchmarks.md"
VERSIONS = ("spacy", "torch", "transformers", "numpy")
app = typer.Typer(help=__doc__)
Given = Annotated[
    Path | None, typer.Option(help="its folder", exists=True, file_okay=False)
]


@app.command()
def run(
    data: Given = None,
    encoder: Given = None,
    only: Annotated[str, typer.Option(help="the start of the commands to run")] = "",
    records: Annotated[Path, typer.Option(help="the file of the records")] = RECORDS,
) -> None:
    """Measure."""
    given = {"data": data, "encoder": encoder}
    folders = {name: str(path.resolve()) for name, path in given.items() if path}
    commands = dict.fromkeys(claim.command for claim in CLAIMS)
    failed = []
    for command in (name for name in commands if name.startswith(only)):
        print(f"\npython -m benchmarks.{command}", flush=True)
        try:
            args = [part.format(**folders) for part in shlex.split(command)]
        except KeyError as error:
            msg.warn(f"Not measured: needs --{error.args[0]}")
            continue
        if measured := _measured(args):
            _keep(records, command, measured)
        else:
            failed.append(command)
    if failed:
        msg.fail("Not measured, see above", failed, exits=1)


def _measured(args: Sequence[str]) -> list[dict[str, Any]]:
    """Run a command, and return its records; none if it failed."""
    name, *rest = args
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        command = [sys.executable, "-m", f"benchmarks.{name}", *rest]
        run = subprocess.run(command, env={**os.environ, RECORD_TO: str(path)})
        if run.returncode or not path.exists():
            return []
        return read_done(path)


def _keep(path: Path, command: str, measured: Iterable[dict[str, Any]]) -> None:
    """Replace the records of a command."""
    known = read_done(path)
    made = {"command": command, "date": date.today().isoformat(), "on": machine()}
    left = [record for record in known if record["command"] != command]
    lines = [json.dumps(record) for record in left]
    lines += [json.dumps({**made, **record}) for record in measured]
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text("".join(f"{line}\n" for line in lines), "utf8")
    new.replace(path)


def machine() -> str:
    """Return a description of this machine."""
    libraries = ", ".join(f"{name} {version(name)}" for name in VERSIONS)
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({processor()}), {python}, {libraries}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


@app.command()
def page() -> None:
    """Fill the page."""
    PAGE.write_text(filled(PAGE.read_text("utf8"), TABLES), "utf8")


def rows(path: Path = RECORDS) -> Iterator[Sequence[str]]:
    """Yield the table of the page."""
    yield "what", "ours", "peer", "peer / ours"
    known = read_done(path)
    for claim in CLAIMS:
        own = {r["what"]: r for r in known if r["command"] == claim.command}
        if claim.reports[0] in own:
            yield from rows_of(claim, own)


def rows_of(claim: Claim, own: dict[str, Any]) -> Iterator[Sequence[str]]:
    """Yield a row for each peer of a claim."""
    parts = [own[what] for what in claim.reports]
    ours = ", ".join(_shown(part, claim.ours) for part in parts)
    first = [claim.what, ours]
    for name, words in claim.peers.items():
        if theirs := parts[0]["values"].get(name):
            peer = ", ".join(
                _shown(part, name) for part in parts if name in part["values"]
            )
            ratios = ratios_of(theirs, parts[0]["values"][claim.ours])
            middle, low, high = (number(of(ratios)) for of in (median, min, max))
            ratio = f"{middle} ({low} to {high})" if len(ratios) > 1 else middle
            yield *first, f"{words}: {peer}", ratio
            first = ["", ""]


def _shown(record: dict[str, Any], name: str) -> str:
    return show(median(record["values"][name]), record["unit"])


def conditions() -> Iterator[Sequence[str]]:
    """Yield the machines and days of the records."""
    yield "measured on", "days"
    known = read_done(RECORDS)
    for on in dict.fromkeys(record["on"] for record in known):
        own = [record for record in known if record["on"] == on]
        days = sorted({record["date"] for record in own})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        yield on, span


TABLES = {"speed": rows, "conditions": conditions}

if __name__ == "__main__":
    app()
