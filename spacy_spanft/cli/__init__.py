"""`python -m spacy spanft ...`: thin functions over the Python interface.

spaCy imports this module for each of its commands, so nothing heavy is imported
here: a command imports what it needs when it runs.
"""

import typer

from ..util._compat import spacy_cli
from .convert import convert_cli
from .dictionaries import build_cli, info_cli, top_cli
from .experiments import compare_cli, evaluate_cli, experiment_cli
from .init import add_cli, init_cli
from .predict import card_cli, predict_cli, push_cli
from .texts import explain_cli, phrases_cli, segment_cli
from .train import pretrain_cli, train_cli
from .util import CommandGroup

spanft = typer.Typer(
    name="spanft",
    help="Fine-tune Hugging Face encoders in spaCy, from a table.",
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
spanft.command("init", rich_help_panel="Start")(init_cli)
spanft.command("add", rich_help_panel="Start")(add_cli)
spanft.command("train", context_settings=OVERRIDES, rich_help_panel="Start")(train_cli)
spanft.command("evaluate", rich_help_panel="Use")(evaluate_cli)
spanft.command("predict", rich_help_panel="Use")(predict_cli)
spanft.command("explain", rich_help_panel="Use")(explain_cli)
spanft.command("segment", rich_help_panel="Use")(segment_cli)
spanft.command("compare", rich_help_panel="Compare")(compare_cli)
spanft.command("experiment", context_settings=OVERRIDES, rich_help_panel="Compare")(
    experiment_cli
)
spanft.command("phrases", rich_help_panel="More")(phrases_cli)
spanft.command("convert", rich_help_panel="More")(convert_cli)
spanft.command("pretrain", rich_help_panel="More")(pretrain_cli)
spanft.command("card", rich_help_panel="More")(card_cli)
spanft.command("push", rich_help_panel="More")(push_cli)
spanft.add_typer(dictionary, rich_help_panel="Dictionaries")
spacy_cli().app.add_typer(spanft)
