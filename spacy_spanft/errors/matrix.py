"""Messages of errors: the matrix of trainings."""


class MatrixErrors:
    """Messages with named gaps, filled with `str.format`."""

    BAD_ARMS = "{path} is no file of arms: {reason}."
    NO_PLACE = "{who} sets {place!r}, but the config has no such section."
    NO_SETTING = "{who} sets {place!r}, which nobody reads. Known are: {known}."
    RUNNER_SETS = (
        "{place!r} cannot be set: the runner does that, as it is what tells the runs "
        "apart (--seed, --seeds, --data)."
    )
    BAD_OVERRIDES = "The command line has something that is no setting: {reason}"
    NO_SPAN_BLOCK = (
        "The arm {arm!r} sets `block`, but its config has none of these: {known}. "
        "Give it the config `spanft`."
    )
    NO_DATA = (
        "There is no {part}.spacy in the folder '{path}'. The data of a task are a "
        "folder with train.spacy and dev.spacy."
    )
    BAD_DATA = "'{path}' cannot be read as spaCy's binary data. Write it again."
    BAD_TASK = "{path} does not say what the task is: {reason}."
    WHICH_CONFIGS = (
        "'{path}' is a folder, and there is no task.json in '{data}' whose \"config\" "
        "says which of its configs to take. Name them: configs/textcat for "
        "configs/textcat_baseline.cfg and configs/textcat_spanft.cfg."
    )
    SAME_DATA = (
        "Two folders of data are called {name!r}, and their runs would have the same "
        "folder. Rename one."
    )
    NO_BATCH_SIZE = (
        "The config has {value!r} for [training.batcher] size, but the number of steps "
        "is reckoned from a number of texts. Use spacy.batch_by_sequence.v1."
    )
    UNKNOWN_ARM = "There is no arm {name!r}. There are: {known}."
    NO_GPU = (
        "GPU {gpu_id} was asked for, but cannot be used: {reason}. For the CPU, leave "
        "out --gpu-id (in the project, --vars.gpu_id)."
    )
    FAILED = "{failed} of {all} runs failed. The others are done."
