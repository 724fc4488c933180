"""A dictionary can be a setting of `add_pipe`, and is then saved with the pipeline."""

import pytest
import spacy

from spacy_spanft.errors import SpanftError

TEXT = "the united states of america"


def spans_of(nlp):
    doc = nlp(TEXT)
    return [span.text for span in doc.spans["ngrams"]]


def test_a_dictionary_of_the_config_is_used_and_saved(dictionary, tmp_path):
    path = tmp_path / "mine.tsv.gz"
    dictionary.to_disk(path)
    settings = {"dictionary": str(path)}
    made = [spacy.blank("en") for _ in range(2)]
    for nlp in made:
        nlp.add_pipe("span_segmenter", config=settings)
    made[0].to_disk(tmp_path / "saved")  # nothing has been cut yet
    data = made[0].to_bytes()
    assert spans_of(made[1]) == [TEXT]
    path.unlink()
    loaded = spacy.load(tmp_path / "saved")
    assert spans_of(loaded) == [TEXT]
    other = spacy.blank("en")
    other.add_pipe("span_segmenter", config=settings)
    assert spans_of(other.from_bytes(data)) == [TEXT]


def test_a_dictionary_that_is_not_there_is_named(tmp_path):
    nlp = spacy.blank("en")
    settings = {"dictionary": str(tmp_path / "none.tsv.gz")}
    nlp.add_pipe("span_segmenter", config=settings)
    with pytest.raises(SpanftError, match=r"There is no file '.*none\.tsv\.gz'"):
        nlp("a text")
