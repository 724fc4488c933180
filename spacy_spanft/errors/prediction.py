"""Messages of errors: predictions for the rows of a file."""

from .shortening import shortened


@shortened
class PredictionErrors:
    """Messages with named gaps, filled with `str.format`."""

    NO_INPUT_FORMAT = (
        "The file extension of {path!r} does not tell its format. Set it with "
        "--format: parquet, jsonl, csv, tsv, or txt for one text per line."
    )
    NO_OUTPUT_FORMAT = (
        "The output {path!r} must end in .parquet or .jsonl, which sets its format."
    )
    PREDICTS_NOTHING = (
        "The pipeline {name!r} predicts no categories, entities or spans; it has "
        "{pipes}. `spanft segment` shows the spans of a span_segmenter."
    )
    OTHER_SHAPE = (
        "{name} has {found}, and with the first text it had {expected}. All rows of an "
        "output have the same columns."
    )
    NOT_IN_JSON = (
        "A column of the input holds values of type {kind}, which JSON cannot hold. "
        "Use a .parquet output."
    )
    MIXED_TYPES = (
        "The columns of the input cannot be written as Parquet, where each has one "
        "type: {reason}. Use a .jsonl output."
    )
    NO_FREE_GPU = "No GPU is free among {gpus}: each process needs one of its own."
    NONE_PREDICTED = (
        "None of the first texts of {path} can be predicted. {place}: {reason}"
    )
    COLUMN_IS_THERE = (
        "These columns are already in {path!r}: {names}. Rename the predicted ones "
        "with --prefix, such as --prefix predicted_."
    )
    FOR_PAIRS = (
        "The pipeline {name!r} is for pairs of texts. Name the column of the second "
        "one with --text-pair{also}."
    )
    NOT_FOR_PAIRS = (
        "The pipeline {name!r} is for single texts, and --text-pair names a second one."
    )
    EMPTY_TEXT = "{place} of {path!r} has no text: nothing can be predicted of it."
    BAD_WORK = "{path} cannot be read. Remove its folder to start over."
    PARTS_OF_OTHERS = (
        "{folder} has parts of another run: {name} was different. Run the same command "
        "as before to resume it, or start over with --force."
    )
    STOPPED_PREDICTING = (
        "The parts that are done are kept. Run the same command again to resume."
    )
