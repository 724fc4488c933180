"""`python -m spacy spanft ...`: thin functions over the Python interface.

spaCy imports this module for each of its commands, so nothing heavy is imported
here: a command imports what it needs when it runs.
"""

from collections.abc import Callable

import typer

from ..util._compat import command_line
from .convert import convert_cli
from .dictionaries import build_cli, info_cli, top_cli
from .experiments import compare_cli, experiment_cli
from .init import add_cli, init_cli
from .predict import card_cli, predict_cli, push_cli
from .texts import explain_cli, phrases_cli, segment_cli
from .train import pretrain_cli, train_cli
from .util import CommandGroup

spanft = typer.Typer(
    name="spanft",
    help="Span fine-tuning (spacy-spanft).",
    no_args_is_help=True,
    cls=CommandGroup,
)
dictionary = typer.Typer(
    name="dictionary",
    help="Build n-gram dictionaries and inspect them.",
    no_args_is_help=True,
)
dictionary.command("build")(build_cli)
dictionary.command("info")(info_cli)
dictionary.command("top")(top_cli)
# For settings of a config, such as --training.dropout 0.2.
OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}
# The panels of `spanft --help`, in their order.
_PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Start": {"init": init_cli, "add": add_cli, "train": train_cli},
    "Use": {"predict": predict_cli, "explain": explain_cli, "segment": segment_cli},
    "Compare": {"compare": compare_cli, "experiment": experiment_cli},
    "More": {
        "phrases": phrases_cli,
        "convert": convert_cli,
        "pretrain": pretrain_cli,
        "card": card_cli,
        "push": push_cli,
    },
}
for panel, commands in _PANELS.items():
    for name, command in commands.items():
        settings = OVERRIDES if name in ("train", "experiment") else None
        add = spanft.command(name, context_settings=settings, rich_help_panel=panel)
        add(command)
spanft.add_typer(dictionary, rich_help_panel="Dictionaries")
command_line().add_typer(spanft)
