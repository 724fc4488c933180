"""How figures look, and how one becomes images for a page, by day and by night."""

import io
import re
import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...util.extras import require

INK, SOFT, RULE = "#1f2328", "#59636e", "#d8dee4"
# Colors that the color-blind tell apart too (after Okabe and Ito, and Tol): of the
# same meaning by day and by night, each with a contrast of 3 or more to the page.
DARK = {
    INK: "#e6edf3",
    SOFT: "#9da7b1",
    RULE: "#343b43",
    "#6e7781": "#a3adb8",
    "#0072b2": "#56b4e9",
    "#c44e00": "#f0894a",
    "#00805c": "#35c499",
    "#a23b78": "#e08bc0",
    "#8a6d00": "#d9bb45",
    "#4b3fa7": "#a9a1f0",
}
_COLOURS = list(DARK)[3:]
_MARKERS = "osD^vP"
_LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
_SIZE = (5.6, 3.3)
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# What XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Look(NamedTuple):
    """How an arm is drawn.

    line (Any): The style of its lines.
    """

    color: str
    marker: str
    line: Any


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Choose how arms are drawn, the same in all figures of a report.

    names (Sequence[str]): The arms, the baseline (which is grey) first.
    RETURNS (dict[str, Look]): How each is drawn.
    """
    return {
        name: Look(
            _COLOURS[i % len(_COLOURS)],
            _MARKERS[i % len(_MARKERS)],
            _LINES[i % len(_LINES)],
        )
        for i, name in enumerate(dict.fromkeys(names))
    }


def clean(text: str) -> str:
    """Replace the characters that a page cannot hold; the others keep their places.

    text (str): Any text.
    RETURNS (str): Text of the same length.
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def label(name: str, size: int = 24) -> str:
    """Shorten a name so that it has a place in a figure: paths differ at both ends.

    size (int): How many characters it may have.
    RETURNS (str): The name, or its beginning and end.
    """
    name = clean(name).replace("\n", " ")
    if len(name) <= size:
        return name
    return f"{name[: size // 2 - 2]}…{name[-(size - size // 2) + 1 :]}"


@contextmanager
def drawing(height: float = _SIZE[1]) -> Iterator[tuple[Any, Any]]:
    """Make a figure in our own style, whatever the user's is.

    height (float): Its height in inches.
    YIELDS (tuple[Figure, Axes]): The figure and its axes.
    """
    require("A report in HTML", "scipy", "matplotlib")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # The page's font may well have what the one that measures has not.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "svg.fonttype": "none",
                "svg.hashsalt": "the same ids each time",
                "font.size": 10.5,
                "axes.edgecolor": SOFT,
                "axes.labelcolor": INK,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.linewidth": 0.8,
                "text.color": INK,
                "text.parse_math": False,
                "xtick.color": SOFT,
                "ytick.color": SOFT,
                "xtick.labelcolor": INK,
                "ytick.labelcolor": INK,
                "grid.color": RULE,
                "grid.linewidth": 0.8,
                "axes.axisbelow": True,
                "lines.linewidth": 1.8,
                "lines.markersize": 6.0,
            }
        )
        figure = Figure(figsize=(_SIZE[0], height), layout="constrained")
        yield figure, figure.add_subplot()


class Image(NamedTuple):
    """A figure for the `src` of images: what is in one cannot touch the page.

    day (str): The figure for a bright page, as a data URL.
    night (str): The same for a dark one.
    alt (str): What it shows, for those who do not see it.
    """

    day: str
    night: str
    alt: str


def to_image(figure: Any, alt: str) -> Image:
    """Write a figure for a page.

    figure (Figure): What `drawing` made.
    alt (str): What it shows, for those who do not see it.
    """
    svg = to_svg(figure)
    return Image(_url(svg), _url(darkened(svg)), clean(alt))


def to_svg(figure: Any, transparent: bool = True) -> str:
    """Write a figure as SVG, in the fonts that the reader has.

    transparent (bool): Whether it has no background of its own.
    """
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(buffer, format="svg", transparent=transparent, metadata=metadata)
    return re.sub(r"'DejaVu Sans'[^;\"]*", _FONT, buffer.getvalue().decode())


def darkened(svg: str) -> str:
    """Give a figure the colors of dark pages."""

    def other(found: re.Match[str]) -> str:
        return f"{found[1]}: {DARK.get(found[2], found[2])}"

    return re.sub(r"(fill|stroke): (#[0-9a-f]{6})", other, svg)


def _url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def spread(values: Sequence[float], gap: float) -> list[float]:
    """Move labels as little as possible so that none covers another.

    values (Sequence[float]): Where they should be.
    gap (float): How far apart they must be.
    RETURNS (list[float]): Where they can be.
    """
    from scipy.optimize import isotonic_regression

    order = sorted(range(len(values)), key=values.__getitem__)
    steps = [gap * rank for rank in range(len(order))]
    wanted = [values[i] - step for i, step in zip(order, steps, strict=True)]
    places = (isotonic_regression(wanted).x if wanted else []) + steps
    found = [0.0] * len(values)
    for i, place in zip(order, places, strict=True):
        found[i] = float(place)
    return found
