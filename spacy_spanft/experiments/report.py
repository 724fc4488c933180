"""The reports of comparisons: JSON, Markdown, and one page of HTML with a figure."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from spacy.util import get_package_version

from ..util.files import write_whole
from . import result_tables as tables
from .comparison import Comparison
from .disagreements import disagreements
from .figures import clean, score_figure
from .label_tables import confusions, label_rows
from .row_scores import OF_NUMBERS

_PACKAGES = ("spacy", "torch", "transformers", "spacy-spanft")


def report(comparisons: Mapping[str, Comparison], output: Path | None = None) -> str:
    """Return comparisons in Markdown, each under the name of its task.

    output (Optional[Path]): A folder for comparison.json, comparison.md and
        comparison.html.
    """
    text = "\n".join(
        f"## {tables.escape_markdown(name)}\n\n{tables.to_markdown(comparison)}"
        for name, comparison in comparisons.items()
    )
    if output is None:
        return text
    values = {"tasks": {name: c.to_json() for name, c in comparisons.items()}}
    write_whole(
        output / "comparison.json", f"{json.dumps(values, indent=2)}\n".encode()
    )
    write_whole(output / "comparison.md", text.encode())
    write_whole(output / "comparison.html", to_html(comparisons).encode())
    print(f"✔ Written to {output}", file=sys.stderr)
    return text


def to_html(comparisons: Mapping[str, Comparison]) -> str:
    """Return the comparisons of tasks, by their names, as one page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    tasks = [
        {
            "name": name,
            "comparison": comparison,
            "rows": tables.rows_of(comparison),
            "labels": label_rows(comparison),
            "confusions": confusions(comparison),
            "figure": score_figure(comparison),
            "sides": disagreements(comparison),
            "is_score": comparison.metric in OF_NUMBERS,
        }
        for name, comparison in comparisons.items()
    ]
    return environment.get_template("page.html.jinja").render(
        tasks=tasks,
        versions=[f"{name} {get_package_version(name)}" for name in _PACKAGES],
        tables=tables,
    )
