"""Messages of errors: the command line."""


class CommandErrors:
    """Messages with named gaps, filled with `str.format`."""

    NO_INPUT = (
        "There is nothing to read. Name text files ('-' is the standard input), or a "
        "dataset with --dataset."
    )
    TARGET_IS_FOLDER = "The output {path!r} is a folder. Name a file in it."
    TARGET_IS_SOURCE = "{path!r} is both read and written. Name another output."
    BAD_OPTION = "{option} is {value}, but must be 1 or more."
    MODEL_AND = "--model has all of that itself: leave out {others}."
    TEXTS_AND_FILE = "Give texts either as arguments or in a --file, not both."
    TWO_INPUTS = "Name either text files or a --dataset, not both."
    NO_TEXTS = (
        "There is no text to cut. Give it as arguments, in a file (--file), or on the "
        "standard input."
    )
    NO_COMPONENT = (
        "The pipeline {name!r} has no span_segmenter. Leave out --model to cut with a "
        "blank pipeline."
    )
    NO_MODEL = "The pipeline {name!r} cannot be loaded: {reason}"
    BAD_FILE = "{path}: {reason}. If it was there before, it is as it was."
    BAD_OUTPUT = "The output cannot be written: {reason}."
    STOPPED = "Stopped. No file is half written."
