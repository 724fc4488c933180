"""Messages of errors: counting text in shards, and reading tables of text."""

from .shortening import shortened


@shortened
class ShardErrors:
    """Messages with named gaps, filled with `str.format`."""

    # Files of a build
    NOT_A_SHARD = (
        "{path!r} cannot be read as a file of counts: {reason}. It is damaged, cut "
        "short, or was not written by spacy-spanft: write it again."
    )
    DISK_FULL = (
        "There is no room left in {path!r} ({reason}). A build needs about twice the "
        "size of the decompressed text there. Free some, or name a folder on a larger "
        "disk: --work FOLDER, or the environment variable TMPDIR."
    )
    WORK_NOT_SEEN = (
        "There is no folder {path!r} on this machine. The workers of a cluster need a "
        "folder that all of them see: --work FOLDER on a shared disk."
    )
    OTHER_WORK = (
        "{path!r} holds an unfinished build with another {name}{change}. Go on with "
        "what it was, name another --work FOLDER, or remove that one."
    )
    WORK_TAKEN = (
        "Another build is running in {path!r}. Wait until it ends, or name another "
        "--work FOLDER."
    )
    NOT_OUR_WORK = (
        "{path!r} has other files in it, such as {file!r}, and no build was begun "
        "there. Name a new or empty folder for --work."
    )
    NO_STDIN_AGAIN = (
        "The standard input can be read once, and in one piece: --work and --part need "
        "a file. Save it to one, or leave them out."
    )
    BAD_SIZE = (
        "{value!r} is not an amount of memory. Write a number and a unit, such as "
        "500MB or 2GB."
    )
    BAD_PART = (
        "{value!r} does not say which part of how many, such as 3/16: a number from 1 "
        "to 16, a slash, and 16."
    )
    SHARDS_DIFFER = (
        "{path!r} was counted with {name} = {found}, but {first!r} with {expected}: "
        "they cannot be joined. Count one of them again."
    )

    SHARD_TWICE = (
        "{path!r} is given twice: its text would count twice. Give each file once."
    )
    PARTS_MISSING = (
        "{path!r} is one of {n_parts} parts of a text. To join them, all are needed, "
        "each once. Missing: {missing}. More than once: {twice}."
    )

    # Tables of text
    NO_KEY = (
        "{place} of {source!r} has no column {column!r}, but: {columns}. Choose "
        "another one with column=... (--column)."
    )
    NO_TEXT_IN_CELL = (
        "{place} of {source!r} has {value!r} in column {column!r}, which is not a "
        "text. Choose another one with column=... (--column); errors='replace' "
        "(--errors replace) skips null cells."
    )
    COLUMN_NOT_TEXT = (
        "Column {column!r} of {source!r} holds {type}, not text. Choose another one "
        "with column=... (--column)."
    )
    BAD_PARQUET = "{path!r} cannot be read as a Parquet file: {reason}."
