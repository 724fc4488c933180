"""Fill the tables and figures of the docs from recorded scores, or print a table.

    python -m benchmarks.results_page
    python -m benchmarks.results_page --table gains-by-task

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->` in
docs/explanation/results.md or README.md, a figure between `<!-- figure: NAME -->` and
`<!-- end of figure -->`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Annotated

import typer
from wasabi.tables import table as aligned

from . import tables as others
from .fewlabels import tables as fewlabels
from .figures import FIGURES, Figure

_ROOT = Path(__file__).parents[1]
PAGE, README = _ROOT / "docs" / "explanation" / "results.md", _ROOT / "README.md"
_MARK = re.compile(r"<!-- (table|figure): (.*?) -->")
_TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)
_FIGURE = re.compile(r"(<!-- figure: ([\w-]+) -->\n).*?(<!-- end of figure -->)", re.S)
_DRAWN_BY = re.compile(r"Matplotlib v[\d.]+")
Rows = Iterable[Sequence[str]]
TABLES: dict[str, Callable[[], Rows]] = {**fewlabels.TABLES, **others.TABLES}


def check_marks(path: Path) -> None:
    """Raise for a mark of a page that nothing would fill."""
    page = path.read_text("utf8")
    for mark in _MARK.finditer(page):
        is_table = mark[1] == "table"
        pattern, names = (_TABLE, [*TABLES]) if is_table else (_FIGURE, [*FIGURES])
        if mark[2] not in names:
            raise SystemExit(f"{path}: {mark[0]} is none of {', '.join(names)}.")
        block = pattern.match(page, mark.start())
        if not block or _MARK.search(block[0], 1):
            raise SystemExit(f"{path}: {mark[0]} has no <!-- end of {mark[1]} -->.")


def filled(page: str, tables: Mapping[str, Callable[[], Rows]] = TABLES) -> str:
    """Return a page with its tables filled."""

    def table(block: re.Match[str]) -> str:
        header, *rows = tables[block[2]]()
        lines = [header, ["---"] * len(header), *rows]
        text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        return f"{block[1]}\n{text}\n{block[3]}"

    return _TABLE.sub(table, page)


def illustrated(page: str, figures: Mapping[str, Figure]) -> str:
    """Return a page with links to its figures, and their descriptions."""

    def image(block: re.Match[str]) -> str:
        link = f"![{figures[block[2]].alt}]({block[2]}.svg)"
        return f"{block[1]}\n{link}\n\n{block[3]}"

    return _FIGURE.sub(image, page)


def is_drawn(path: Path, figure: Figure) -> bool:
    """Whether a file shows a figure already, as another matplotlib drew it.

    Each version draws the same with other bytes.
    """
    if not path.exists():
        return False
    svg = path.read_text("utf8")
    versions = [_DRAWN_BY.findall(text)[:1] for text in (svg, figure.svg)]
    is_same = f"<desc>{escape(figure.alt)}</desc>" in svg
    return is_same and versions[0] != versions[1]


def main(
    table: Annotated[str, typer.Option(help="print this table; write nothing")] = "",
) -> None:
    """Fill the docs, or print one table."""
    if table:
        if table not in TABLES:
            raise SystemExit(f"--table {table!r} is none of {', '.join(TABLES)}.")
        header, *rows = TABLES[table]()
        print(aligned(rows, header=header, divider=True))
        return
    for path in (PAGE, README):
        check_marks(path)
    figures = {name: draw() for name, draw in FIGURES.items()}
    for name, figure in figures.items():
        path = PAGE.with_name(f"{name}.svg")
        if not is_drawn(path, figure):
            path.write_text(figure.svg, "utf8")
    for path in (PAGE, README):
        page = illustrated(filled(path.read_text("utf8")), figures)
        path.write_text(page, "utf8")


if __name__ == "__main__":
    typer.run(main)
