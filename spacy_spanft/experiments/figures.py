"""The figure of a comparison, as an SVG image for a page."""

import io
import re
import warnings
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..util import require
from .comparison import Comparison
from .result_tables import metric_name, percent

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "the same ids each time",
    "text.parse_math": False,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d8dee4",
}
# Characters that XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Figure(NamedTuple):
    """An image as a data URL, which cannot affect the page, and two texts."""

    image: str
    alt: str
    caption: str


def clean(text: str) -> str:
    """Replace the characters that a page cannot hold; the others keep their places."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _label(name: str) -> str:
    """Shorten a name; paths differ at both ends."""
    name = clean(name).replace("\n", " ")
    return name if len(name) <= 24 else f"{name[:10]}…{name[-13:]}"


def score_figure(comparison: Comparison, colors: Mapping[str, str]) -> Figure:
    """Draw the score of each arm, of each of its runs, and how far it may be off.

    The interval of an arm's difference from the first is drawn from the first one's
    mean on. The style is our own, whatever the user's is.
    """
    require("A report in HTML", "scipy", "matplotlib")
    from matplotlib import style
    from matplotlib.figure import Figure as Canvas

    arms, title = comparison.arms, f"{metric_name(comparison)} in percent"
    styles: list[Any] = ["tableau-colorblind10", _STYLE]
    buffer = io.BytesIO()
    with style.context(styles, after_reset=True), warnings.catch_warnings():
        # The reader's fonts may have the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        canvas = Canvas(figsize=(5.6, 0.9 + 0.48 * len(arms)), layout="constrained")
        axes = canvas.add_subplot()
        first = arms[0].mean
        axes.axvline(100 * first, color="#59636e", linewidth=0.9, linestyle="--")
        for y, arm in enumerate(arms):
            color, scores = colors[arm.name], [100 * score for score in arm.scores]
            axes.plot(scores, [y + 0.2] * len(scores), ".", color=color)
            axes.plot(100 * arm.mean, y, "o", color=color)
            if difference := arm.method or arm.models:
                ends = difference.low, difference.high
                axes.plot(
                    [100 * (first + end) for end in ends], [y, y], "|-", color=color
                )
        names = [f"{_label(arm.name)}  {percent(arm.scores)}" for arm in arms]
        axes.set_yticks(range(len(arms)), names)
        axes.set_ylim(len(arms) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.set_xlabel(title)
        metadata = {"Date": None, "Creator": None}  # the same bytes each time
        canvas.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    svg = b64encode(buffer.getvalue()).decode()
    texts = "; ".join(f"{arm.name} {percent(arm.scores)}" for arm in arms)
    caption = (
        f"{title}: the mean, and a small dot for each run. The dashed line is the mean "
        f"of {arms[0].name}; a bar is the 95% interval of the difference from it, and "
        "one that crosses the line shows none."
    )
    alt = clean(f"{title}: {texts}.")
    return Figure(f"data:image/svg+xml;base64,{svg}", alt, caption)
