"""Messages of warnings."""

from .shortening import shortened


@shortened
class Warnings:
    """Warnings with named gaps, filled with `str.format`."""

    NO_NGRAMS = (
        "Not a single n-gram occurs {min_count} times or more (min_count) in the "
        "{n_tokens:,} tokens read: the dictionary is empty. Lower min_count, or read "
        "more text."
    )
    EMPTY_DICTIONARY = (
        "The dictionary of the segmenter has no n-grams: every token stays by itself, "
        "and there are no spans of two words or more. Was it built with too high a "
        "min_count, or of too little text?"
    )
    DEFAULT_LANGUAGE = (
        "{name!r} cuts a pipeline of language {lang!r} with the default dictionary, "
        "which is English. Give it one of its own: "
        "[initialize.components.{name}] dictionary = PATH"
    )
    MERGES_FOR_CURATED = (
        "spacy-curated-transformers cannot read the merges of {name!r} as tokenizers "
        "writes them today, and will end in \"'list' object has no attribute "
        "'split'\". Give [initialize.components.{name}.piecer_loader] the files "
        'themselves: @model_loaders = "spacy-curated-transformers.ByteBpeLoader.v1", '
        "vocab_path = .../vocab.json, merges_path = .../merges.txt"
    )
    ONE_DOCUMENT = (
        'With unit = "document", all of {source} is one Doc, {n_sentences} sentences '
        "long: nothing in it says where another document begins (-DOCSTART-)."
    )
    NO_TEXT_IN_ROWS = (
        "{n:,} of {n_rows:,} rows of {source} have no text in column {column!r}, the "
        "first is {place}. A model can only guess their labels: remove them unless "
        "they are meant to be there."
    )
    UNSEEN_LABELS = (
        "The dev data has labels that {name!r} has not seen in the training data, and "
        "can never predict: {labels}. They count as mistakes in its scores."
    )
    NO_LABELS = (
        "{name!r} learns nothing: not one example of the training data has a label "
        "for it. Is the path in [corpora.train] right, and is it read by the right "
        "@readers?"
    )
    SIMILAR_LABELS = (
        "{name!r} learns labels as different ones that only differ in white space or "
        "capital letters: {labels}. If that is not meant, write them alike in the data."
    )
    NOTHING_TO_SCORE = (
        "The dev data has nothing that {metric!r} in [training.score_weights] could "
        "score: it counts as 0 in each evaluation. Annotate the dev data, or set "
        "{metric} = null."
    )
    SCORES_UNCHECKED = (
        "Nobody knows whether all metrics of [training.score_weights] are computed, as "
        "a scorer fails on the gold data of the dev corpus: {reason}"
    )
    NO_PAIR = (
        "A text has no separator {separator!r}, so that it is encoded as a single "
        "text, by a pipeline for pairs. Join pairs with spacy_spanft.join_pair. The "
        "first such text: {text!r}"
    )
    UNUSED_PATH = (
        "[paths] {name} = {value!r} changes nothing: no setting of the config refers "
        "to ${{paths.{name}}}.{hint} Those in use: {used}."
    )
    LITTLE_MEMORY = (
        "Training needs about {needed:.1f} GB of memory for {batch_size} sequences of "
        "{length} tokens at once, and there are {there:.1f} GB: it may be killed. "
        "Lower --batch-size and raise --accumulate."
    )
    # No warning, but what it needs in any case.
    MEMORY = (
        "Training takes about {needed:.1f} GB of memory ({batch_size} sequences of "
        "{length} tokens at once)"
    )
    # No warning, but one line that says what was changed.
    EVALUATION_FITTED = (
        "[training] {changes}, so that there is an evaluation at least once an epoch "
        "({per_epoch} steps) and at the last step."
    )
    CUT_OFF = (
        "The transformer cut off a text: words of it have no vector, because a window "
        "of it has more wordpieces than model_max_length in its tokenizer_config. Make "
        "window and stride in [components.transformer.model.get_spans] smaller than "
        "they are now."
    )
    NEVER_FOUND = (
        "{n} entities of the training data begin or end with white space, or go over "
        "the beginning of a sentence: {name!r} never predicts such, and learns nothing "
        "from them. The first is {first!r}."
    )
    UNUSED_RATE = (
        "[training.optimizer] has {setting}, but the pipeline has no parameter that "
        "learns at that rate: {reason}."
    )
    NEVER_THAWS = (
        "{name} = {value}, but training ends at {end}: the transformer stays frozen to "
        "the end, and only the head learns."
    )
    NEW_POOLER = (
        "The pooler of {name!r} begins with random weights, as its encoder has no "
        "pre-trained one of its width. If that is not meant, set pooler = false."
    )
    INSIDE_TOKENS = (
        "{n:,} of {n_spans:,} spans in {path!r} begin or end inside a token, and count "
        "as the whole token. If that is not meant: are their start and end counted in "
        "characters of the text, and not in bytes?"
    )
    SAME_SEED = (
        "Runs of {name!r} have the same seed ({seed}). If they are not trainings of "
        "their own, they do not say what another seed would give, and make the "
        "difference surer than it is."
    )
    SAME_PIPELINES = (
        "The arms {one!r} and {other!r} have the same pipelines ({paths}), so that "
        "nothing can differ between them."
    )
    SAME_ARMS = (
        "The arms {one!r} and {other!r} have the same config, so that nothing can "
        "differ between them."
    )
    SAME_ANSWERS = (
        "Runs of {name!r} have the same answer to every text. Is one the copy of the "
        "other? It would make the difference surer than it is."
    )
    STRANGE_PREDICTIONS = (
        "{path!r} predicts {labels}, and neither {model!r} nor the data know these "
        "labels, but {known}. Are they named otherwise there?"
    )
    SAME_WEIGHT = (
        "{names} count the same ({weight}) in [training.score_weights] of {path!r}: "
        '{name} is taken. Name another with --metric, or as "metric" in task.json.'
    )
    NO_REASONS = (
        "The report does not say which phrases decided, as {path!r} cannot be "
        "explained: {reason}"
    )
    HELD_OUT_ALONE = (
        "Labels that the held-out texts alone have, which nothing learns: {labels}. "
        "Add texts with them, or name dev data of your own (--dev of spanft init)."
    )
