"""How the figures of a comparison are written, in every kind of report."""

from statistics import mean, median, stdev

from ..comparison.comparing import Comparison
from ..statistics.methods import MethodDifference
from ..statistics.significance import Difference

_METRICS = {
    "cats_accuracy": "Accuracy",
    "cats_matthews": "Matthews’ correlation",
    "cats_f1": "F1",
    "cats_micro_f": "Micro F1",
    "cats_micro_p": "Micro precision",
    "cats_micro_r": "Micro recall",
    "cats_macro_f": "Macro F1",
    "cats_macro_p": "Macro precision",
    "cats_macro_r": "Macro recall",
    "cats_macro_auc": "Macro AUC",
    "cats_pearson": "Pearson’s correlation",
    "cats_spearman": "Spearman’s correlation",
    "tag_acc": "Accuracy of tags",
}
_OF_SPANS = {"f": "F1", "p": "Precision", "r": "Recall"}
_ENSEMBLES = (
    "An ensemble is all runs of an arm as one pipeline: the scores of labels are "
    "averaged, entities and spans are put to the vote. It is compared with the "
    "ensemble of the first arm."
)


def metric(comparison: Comparison) -> str:
    """Name the metric as a paper does.

    RETURNS (str): Such as "Accuracy".
    """
    if meaning := comparison.meaning:
        return meaning[0].upper() + meaning[1:]
    return metric_name(comparison.metric)


def metric_name(name: str) -> str:
    """Name a metric as a paper does.

    name (str): What spaCy calls it, such as "cats_accuracy".
    RETURNS (str): Such as "Accuracy"; the same for one that is not known.
    """
    kind, _, end = name.rpartition("_")
    if end in _OF_SPANS and (kind == "ents" or kind.startswith("spans_")):
        what = "entities" if kind == "ents" else "spans"
        return f"{_OF_SPANS[end]} of {what}"
    return _METRICS.get(name, name)


def ensembles(comparison: Comparison) -> str:
    """Say what an ensemble is, and which arms have none.

    RETURNS (str): Sentences.
    """
    there = {arm.name for arm in comparison.ensembles}
    alone = [arm.name for arm in comparison.arms if arm.name not in there]
    if not alone:
        return _ENSEMBLES
    said = f"{_ENSEMBLES} Without an ensemble, as there is one run: {', '.join(alone)}"
    is_base = comparison.arms[0].name in alone
    return f"{said}{', whose run stands for it' if is_base else ''}."


def percent(values: list[float]) -> str:
    """Write the mean of scores and, if there are several, their standard deviation.

    values (list[float]): The scores, as shares.
    RETURNS (str): Such as "84.2 ± 0.3".
    """
    text = f"{100 * mean(values):.1f}"
    return f"{text} ± {100 * stdev(values):.1f}" if len(values) > 1 else text


def points(value: float) -> str:
    """Write a difference of scores in points of a hundred, with its sign.

    value (float): The difference, as a share.
    RETURNS (str): Such as "+1.3".
    """
    return _signed(f"{100 * value:+.1f}")


def logit(value: float) -> str:
    """Write what is added to a logit, with its sign.

    value (float): What is added.
    RETURNS (str): Such as "+0.41".
    """
    return _signed(f"{value:+.2f}")


def _signed(text: str) -> str:
    """Give a zero no sign, and any other number a minus that is one."""
    if float(text) == 0:
        return text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def interval(found: Difference | MethodDifference | None) -> str:
    """Write an interval.

    found (Optional[Union[Difference, MethodDifference]]): What it is of.
    RETURNS (str): Such as "+0.2 to +2.4", or nothing.
    """
    return f"{points(found.low)} to {points(found.high)}" if found else ""


def probability(p: float) -> str:
    """Write a p-value.

    p (float): The p-value.
    RETURNS (str): Such as "0.021", or "< 0.001".
    """
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def equation(p: float) -> str:
    """Write a p-value with its name.

    p (float): The p-value.
    RETURNS (str): Such as "p = 0.021", or "p < 0.001".
    """
    text = probability(p)
    text = f"p {text}" if text.startswith("<") else f"p = {text}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def share(value: float | None) -> str:
    """Write how much more there is.

    value (Optional[float]): A share, if known.
    RETURNS (str): Such as "+3.1%"; nothing for zero.
    """
    return f"{value:+.1%}".replace("-", "\N{MINUS SIGN}") if value else ""


def speed(values: list[float]) -> str:
    """Write the median of speeds and, if there are several, their range.

    values (list[float]): Words in a second.
    RETURNS (str): Such as "12,345 (11,900 to 12,800)"; nothing if there are none.
    """
    if not values:
        return ""
    text = f"{median(values):,.0f}"
    if len(values) > 1:
        text += f" ({min(values):,.0f} to {max(values):,.0f})"
    return text


def weights(number: int | None) -> str:
    """Write a number of weights.

    number (Optional[int]): The number, if known.
    RETURNS (str): Such as "22.71M", or nothing.
    """
    return "" if number is None else f"{number / 1e6:.2f}M"


def memory(value: float | None) -> str:
    """Write an amount of memory.

    value (Optional[float]): The amount in MB, if known.
    RETURNS (str): Such as "1,024 MB", or nothing.
    """
    return "" if value is None else f"{value:,.0f} MB"


def amount(value: float | None, digits: int = 0) -> str:
    """Write a number.

    value (Optional[float]): The number, if known.
    digits (int): How many digits after the point.
    RETURNS (str): Such as "12,345", or nothing.
    """
    return "" if value is None else f"{value:,.{digits}f}"


def duration(seconds: float) -> str:
    """Write how long something took.

    seconds (float): How long.
    RETURNS (str): Such as "43 s", "12 min" or "1 h 05".
    """
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02}"
