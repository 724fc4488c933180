"""Messages of errors: the matrix of trainings."""


class MatrixErrors:
    """Messages with named gaps, filled with `str.format`."""

    BAD_ARMS = "{path} is not an arms file: {reason}."
    NO_PLACE = "{who} sets {place!r}, but the config has no such section.{hint}"
    NO_SETTING = (
        "{who} sets {place!r}, which is not a known setting.{hint} Known are: {known}."
    )
    RUNNER_SETS = (
        "{place!r} cannot be set: the runner does that, as it is what tells the runs "
        "apart (--seed, --seeds, --data)."
    )
    BAD_OVERRIDES = "The command line has something that is not a setting: {reason}"
    NO_SPAN_BLOCK = (
        "The arm {arm!r} sets `block`, but its config has none of these: {known}. "
        "Give it the config `spanft`."
    )
    ARM_WITHOUT_SPANS = (
        "The arm {arm!r} sets `{key}`, but looks at no spans: its config is "
        "`baseline`, or one without a span_segmenter, or its block has "
        "`segmentation: none`. Change that, or leave out `{key}`."
    )
    NOT_REGISTERED = (
        "{who} sets {place!r} to {name}, which is not registered. Those of "
        "spacy-spanft are: {known}."
    )
    BAD_SETTINGS = "{who} has invalid settings: {reasons}.{hint}"
    NO_DICTIONARY = (
        "{who} cuts with the dictionary {path!r}, but there is no such file (seen from "
        "{cwd!r}). Build it first: python -m spacy spanft dictionary build"
    )
    NO_DATA = (
        "There is no {part}.spacy, {part}.csv, {part}.tsv or {part}.jsonl in the "
        "folder '{path}'. The data of a task are a folder with train and dev data."
    )
    BAD_DATA = (
        "'{path}' cannot be read as spaCy's binary data. Write it again, with "
        "DocBin.to_disk or spanft convert."
    )
    BAD_TASK = "{path} cannot be used: {reason}."
    SEVERAL_FILES = (
        "Both {one} and {other} are in '{folder}', and only one of them can be read: "
        "move the other elsewhere."
    )
    NO_PIPELINE_OF = (
        "{name} is not a pipeline that can be trained on '{data}'. There are: {known}."
    )
    TWO_SOURCES = (
        "--pipeline takes the package's configs, and --configs those of your own. "
        "Leave one of them out."
    )
    NO_REGIME = "The arm {arm!r} has the regime {regime}. There are: {known}."
    REGIME_OF_FILES = (
        "The arm {arm!r} has the regime {regime!r}, which belongs to the package's own "
        "configs. In those of --configs, write it into the file, or use `set`."
    )
    NO_KIND = (
        "The arm {arm!r} takes the config {config}. The package has {known}; others "
        "are files of your own, named with --configs."
    )
    WHICH_CONFIGS = (
        "'{path}' is a folder, and there is no task.json in '{data}' whose \"config\" "
        "says which of its configs to take. Name them: configs/textcat for "
        "configs/textcat_baseline.cfg and configs/textcat_spanft.cfg."
    )
    SAME_DATA = (
        "Two folders of data are called {name!r}, and their runs would have the same "
        "folder. Rename one."
    )
    BAD_TASK_NAME = (
        "The folder of data {name} gives its runs their folder, but its name {why}. "
        "Rename it."
    )
    BAD_PATH = (
        "The path {path} has '${{', which is a variable in a config. Rename the folder."
    )
    BAD_SEED = "A seed is {value}, but must be from 0 to {most}."
    SAME_SEED = "A seed is given twice: {seeds}. Its runs would have the same folder."
    NOT_WHOLE = "{place!r} is {value}, but must be a whole number."
    NO_BATCH_SIZE = (
        "The config has {value} for [training.batcher] size, but the number of steps "
        "is reckoned from a number of texts. Use spacy.batch_by_sequence.v1."
    )
    UNKNOWN_ARM = "There is no arm {name!r}. There are: {known}."
    BAD_GPUS = (
        "--gpu-id is {value}, but must be the number of a GPU, several with commas "
        "between them (0,1), or -1 for the CPU."
    )
    TOO_FEW_GPUS = (
        "--jobs is {n_jobs}, but --gpu-id {gpus} names fewer GPUs. Name more of "
        "them, or let trainings share: --gpu-id {again}"
    )
    TAKEN = (
        "Something else is writing to '{folder}': {who}. Wait until it ends, or name "
        "another output."
    )
    FAILED = "{failed} of {all} runs failed. The others are done."
    ALL_FAILED = "All runs failed: {failed} of {failed}."
