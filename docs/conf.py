"""How Sphinx builds the documentation; `make docs` does."""

import sys
from pathlib import Path

import spacy_spanft

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "spacy-spanft"
author = "The spacy-spanft developers"
project_copyright = author
version = release = spacy_spanft.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "spanft_docs"]
exclude_patterns = ["_build", "_ext"]
root_doc = "index"

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
smartquotes = False  # quotation marks are code as often as not

default_role = "code"  # in docstrings, single backticks are code
autodoc_typehints = "none"  # docstrings tell the types
autoclass_content = "both"  # what a class is, and what makes one
autodoc_member_order = "bysource"
add_module_names = False
# Other packages' types, and descriptions in the place of types.
nitpick_ignore_regex = [("py:.*", ".*")]

html_theme = "furo"
html_title = f"spacy-spanft {release}"
html_copy_source = False
