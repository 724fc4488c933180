"""The reports of comparisons: JSON, Markdown, and one page of HTML with figures."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.util import get_package_version

from ..errors import ExtraError
from ..util import require
from ..util.files import write_whole
from . import result_tables as tables
from .comparison import Comparison
from .disagreements import disagreements
from .figures import Look, clean, curve_figure, looks_of, score_figure
from .row_scores import OF_NUMBERS

_PACKAGES = ("spacy", "torch", "transformers", "spacy-spanft")


def table_of(comparisons: Mapping[str, Comparison]) -> str:
    """Return the comparisons in Markdown, each under the name of its task."""
    return "\n".join(
        f"## {tables.escape_markdown(name)}\n\n{tables.to_markdown(comparison)}"
        for name, comparison in comparisons.items()
    )


def write_reports(output: Path, comparisons: Mapping[str, Comparison]) -> None:
    """Write comparison.json, comparison.md and, with matplotlib, comparison.html."""
    values = {"tasks": {name: c.to_json() for name, c in comparisons.items()}}
    text = json.dumps(values, indent=2) + "\n"
    write_whole(output / "comparison.json", text.encode())
    write_whole(output / "comparison.md", table_of(comparisons).encode())
    try:
        page = to_html(comparisons)
        write_whole(output / "comparison.html", page.encode())
    except ExtraError as error:
        print(f"⚠ {error}", file=sys.stderr)
    print(f"✔ Written to {output}", file=sys.stderr)


def to_html(comparisons: Mapping[str, Comparison]) -> str:
    """Return the comparisons of tasks, by their names, as one page."""
    require("A report in HTML", "scipy", "matplotlib")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    looks = looks_of([arm.name for c in comparisons.values() for arm in c.arms])
    tasks = [
        {
            "name": name,
            "comparison": comparison,
            "rows": tables.rows_of(comparison),
            "figures": _figures(comparison, looks),
            "sides": disagreements(comparison),
            "is_score": comparison.metric in OF_NUMBERS,
        }
        for name, comparison in comparisons.items()
    ]
    return environment.get_template("page.html.jinja").render(
        tasks=tasks,
        overview=_overview(comparisons),
        versions=[f"{name} {get_package_version(name)}" for name in _PACKAGES],
        tables=tables,
    )


def _figures(comparison: Comparison, looks: Mapping[str, Look]) -> list[Any]:
    here = {arm.name: looks[arm.name] for arm in comparison.arms}
    figures = score_figure(comparison, here), curve_figure(comparison.trainings, here)
    return [figure for figure in figures if figure]


def _overview(comparisons: Mapping[str, Comparison]) -> list[tables.Row]:
    """Return the scores of each arm in all tasks; † marks significant differences."""
    rows: dict[str, tables.Row] = {}
    columns = {n: f"{n}: {tables.metric_name(c)}" for n, c in comparisons.items()}
    for name, comparison in comparisons.items():
        ps = tables.corrected(comparison)
        for arm in comparison.arms:
            empty = {"Arm": arm.name, **dict.fromkeys(columns.values(), "")}
            mark = "†" if ps.get(arm.name, 1) < tables.LEVEL else ""
            row = rows.setdefault(arm.name, empty)
            row[columns[name]] = f"{tables.percent(arm.scores)}{mark}"
    return list(rows.values())
