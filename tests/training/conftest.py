import pytest
import srsly
from spacy.training.initialize import init_nlp
from spacy.util import load_config_from_str

from spacy_spanft.configs import config_for_data, config_text


@pytest.fixture
def started(bert, tmp_path):
    """Make the pipeline of `init` for rows, up to the first step of the training."""

    def start(rows, contrast=None, changed=(), **settings):
        srsly.write_jsonl(tmp_path / "data.jsonl", rows)
        settings["transformer"] = str(bert)
        made = config_for_data(str(tmp_path / "data.jsonl"), **settings)
        if contrast is not None:
            made.config["initialize"]["after_init"]["contrast"] = contrast
        text = config_text(made.config, made.task, "x.cfg")
        return init_nlp(load_config_from_str(text, overrides=dict(changed)))

    return start
