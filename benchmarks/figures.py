"""The figure at the top of the results page."""

import io
import re
from html import escape
from statistics import mean
from typing import Any, NamedTuple

from .fewlabels.arms import BASELINE, SIZES
from .fewlabels.tables import SCORED, gains, groups, recorded
from .numbers import interval, mean_over, signed

_SHOWN = {
    "init − encoder alone": ("init", BASELINE),
    "init − init --no-spans": ("init", "no_spans"),
    "the paper's head − encoder alone": ("ngrams", BASELINE),
}
# Colors that the color-blind can tell apart, too (Okabe and Ito).
_LOOKS = (("#0072b2", "o"), ("#c44e00", "s"), ("#00805c", "D"))
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "the same ids each time",
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


class Figure(NamedTuple):
    """A figure.

    svg (str): The text of the file.
    alt (str): A description for those who do not see it.
    """

    svg: str
    alt: str


def gains_by_kind() -> dict[str, dict[str, list[float]]]:
    """Return the gain of each seed over all sizes, by column and kind of task."""
    runs = recorded(SCORED)
    of_size = [[run for run in runs if run["size"] == size] for size in SIZES]
    return {
        title: {
            name: [
                *mean_over([gains(r, t, pair) for r in of_size for t in tasks]).values()
            ]
            for name, tasks in groups().items()
        }
        for title, pair in _SHOWN.items()
    }


def draw_gains() -> Figure:
    """Draw the mean gains with their 95% intervals."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    shown = gains_by_kind()
    titles = [*groups()]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Canvas(figsize=(7.0, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.axvline(0.0, color="#59636e", linewidth=0.9, dashes=(4, 3))
        for i, (title, values) in enumerate(shown.items()):
            middles = [mean(values[name]) for name in titles]
            halves = [mean(v) - interval(v)[0] for v in values.values()]
            rows = [row + 0.22 * (i - 1) for row in range(len(titles))]
            color, marker = _LOOKS[i]
            look: dict[str, Any] = {"color": color, "fmt": marker, "capsize": 3}
            axes.errorbar(middles, rows, xerr=halves, label=title, **look)
        axes.set_yticks(range(len(titles)), titles)
        axes.invert_yaxis()
        axes.set_xlabel("points gained (mean over 100, 300 and 1,000 labels)")
        figure.legend(loc="outside upper center", ncols=1, frameon=False)
        svg = _svg_of(figure)
    cells = [
        f"{title}: "
        + ", ".join(f"{signed(mean(v))} on {name}" for name, v in values.items())
        for title, values in shown.items()
    ]
    alt = f"Points gained, with 95% intervals. {'; '.join(cells)}."
    return Figure(
        svg.replace("<metadata>", f"<desc>{escape(alt)}</desc>\n <metadata>", 1), alt
    )


def _svg_of(figure: Any) -> str:
    """Return the figure as text that is the same each time."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return re.sub(r"'DejaVu Sans'[^;\"]*", _FONT, file.getvalue())


FIGURES = {"gains": draw_gains}
