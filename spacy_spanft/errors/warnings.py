"""Messages of warnings."""


class Warnings:
    """Warnings with named gaps, filled with `str.format`."""

    NO_NGRAMS = (
        "Not a single n-gram occurs {min_count} times or more (min_count) in the "
        "{n_tokens:,} tokens read: the dictionary is empty. Lower min_count, or read "
        "more text."
    )
    DEFAULT_LANGUAGE = (
        "{name!r} cuts a pipeline of language {lang!r} with the default dictionary, "
        "which is English. Give it one of its own: "
        "[initialize.components.{name}] dictionary = PATH"
    )
    ONE_DOCUMENT = (
        'With unit = "document", all of {source} is one Doc, {n_sentences} sentences '
        "long: nothing in it says where another document begins (-DOCSTART-)."
    )
    UNSEEN_LABELS = (
        "The dev data has labels that {name!r} has not seen in the training data, and "
        "can never predict: {labels}. They count as mistakes in its scores."
    )
    CUT_OFF = (
        "The transformer cut off a text: words of it have no vector, because a window "
        "of it has more wordpieces than model_max_length in its tokenizer_config. Use "
        "smaller windows: [components.transformer.model.get_spans] @span_getters = "
        '"spacy-transformers.strided_spans.v1", window = 96, stride = 72'
    )
