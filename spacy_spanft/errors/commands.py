"""Messages of errors: the command line."""


class CommandErrors:
    """Messages with named gaps, filled with `str.format`."""

    NO_INPUT = (
        "There is nothing to read. Name text files ('-' is the standard input), or a "
        "dataset with --dataset."
    )
    TARGET_IS_FOLDER = "The output {path!r} is a folder. Name a file in it."
    PARENT_IS_FILE = (
        "{path!r} cannot be written: {above!r} is a file, so that it cannot hold "
        "another one. Name another output."
    )
    NOT_WRITABLE = (
        "{path!r} cannot be written: you are not allowed to write to the folder "
        "{above!r}. Name another output."
    )
    NOT_A_PAGE = (
        "{path!r} already exists, and its name does not end in .html, so it is not "
        "overwritten by a page. Name another output."
    )
    TABLE_OF_TEXTS = (
        "{path!r} is a table, and --file takes plain text, one text a line: the other "
        "columns would become parts of the texts. Write the column of texts into a "
        "file of its own. (`spanft predict` reads tables.)"
    )
    TARGET_IS_SOURCE = "{path!r} is both read and written. Name another output."
    BAD_OPTION = "{option} is {value}, but it must be 1 or more."
    MODEL_AND = "--model has all of that itself: leave out {others}."
    TEXTS_AND_FILE = "Give texts either as arguments or in a --file, not both."
    TWO_INPUTS = "Name either text files or a --dataset, not both."
    DICTIONARY_OF_OTHERS = (
        "--dictionary is for the n-gram segmenter. Remove it, or use --segmenter "
        "ngrams."
    )
    NO_TEXTS = (
        "There is no text. Give it as arguments, in a file (--file), or on the "
        "standard input."
    )
    NO_TEXTS_IN = "There is no text in {path!r}: it is empty, or all white space."
    NO_COMPONENT = (
        "The pipeline {name!r} has no span_segmenter. Leave out --model to cut with a "
        "blank pipeline."
    )
    NO_MODEL = "The pipeline {name!r} cannot be loaded: {reason}"
    BAD_FILE = "{path}: {reason}. If it existed before, it is unchanged."
    OUTPUT_IS_FILE = "The output {path!r} is a file. Name a folder."
    BAD_OUTPUT = "The output cannot be written: {reason}."
    STOPPED = "Stopped. No file is half written."
    NO_SUCH_ENCODER = (
        "The encoder {name!r} cannot be loaded. Name a folder with a config.json, or "
        "a model of the Hugging Face hub (--paths.transformer, or name in the config "
        "of the transformer): {reason}"
    )
    NO_ENCODER_THERE = (
        "The encoder {name!r} cannot be loaded: {reason}. Name a folder with a "
        "config.json, or a model of the Hugging Face hub."
    )
    NO_VOCABULARY = (
        "The tokenizer of the encoder {name!r} has no words: its files are missing. "
        "Save it there, with tokenizer.save_pretrained of transformers, or name "
        "another encoder with --paths.transformer."
    )
    NOT_AN_ENCODER = (
        "The encoder in folder {name!r} cannot be loaded. It needs a config.json, "
        "weights and a tokenizer, as save_pretrained of transformers writes them; "
        "name another with --paths.transformer: {reason}"
    )
    NO_GPU = (
        "GPU {gpu_id} was asked for, but cannot be used: {reason} For the CPU, leave "
        "out --gpu-id (in the project, --vars.gpu_id)."
    )
    NO_CUPY = (
        "CuPy is not installed. PyTorch here is for CUDA {cuda}, so that it is: pip "
        "install {package}."
    )
    NO_CUDA = (
        "PyTorch here is built without CUDA. Install a build for the CUDA of your CuPy "
        "(https://pytorch.org)."
    )
    NO_CUPY_NO_CUDA = (
        "CuPy is not installed, and PyTorch here is built without CUDA. Install a "
        "PyTorch with CUDA (https://pytorch.org) and the CuPy for the same CUDA (pip "
        "install cupy-cuda12x, or cupy-cuda13x)."
    )
    LONGER_THAN_ENCODER = (
        "A text has {n:,} wordpieces, and the encoder has {most:,} positions. Set "
        'tokenizer_config = {{"use_fast": true, "model_max_length": {most}}} in '
        "[components.transformer.model] (RoBERTa takes two fewer), or windows that are "
        "smaller in its get_spans block."
    )
    UNUSABLE_PATH = "{path}: {reason}."
    BAD_CONFIG_FILE = "The config cannot be read: {reason}"
    TOO_FEW_LABELS = (
        "{name!r} chooses between two labels or more, and the training data has one "
        "only, or none: {labels}. Is it the right column? One label alone, true or "
        'not, is for factory = "textcat_multilabel".'
    )
    OF_SPACY = "{reason} (SPANFT_TRACEBACK=1 shows where.)"
    BAD_ARM = (
        "{arm!r} names no pipeline. Write NAME=PATH, or a path alone; a name that "
        "comes again is another run of the same arm: base=run0 base=run1 spans=run2"
    )
    ONLY_PREDICTIONS = (
        "Predictions are read and scored as those of a trained pipeline are, and there "
        "is none. Name one beside {paths}."
    )
    BAD_PREDICTION = "{place} of {path!r}: {reason}."
    NO_PIPELINE_FILE = (
        "{path!r} is a file. A pipeline is a folder, such as training/model-best."
    )
    NO_ARM_FILE = (
        "{path!r} is a file. A pipeline is a folder, such as training/model-best, and "
        "predictions are a file of JSON lines whose name ends in .jsonl."
    )
    PREDICTED_TEXT = (
        'The "text" in {place} of {path!r} is {found}, but must be that of text '
        "{number} of {data!r}: {text!r}.{hint}"
    )
    OTHER_NORMAL_FORM = (
        " They differ in nothing but the way accents are encoded: normalize one of "
        "them (NFC or NFD, as of unicodedata.normalize)."
    )
    MORE_PREDICTIONS = "{path!r} has more predictions than {data!r} has texts ({n:,})."
    FEWER_PREDICTIONS = (
        "{path!r} has {n:,} predictions, and {data!r} has more texts. The first that "
        "has none: {text!r}"
    )
    OTHER_PREDICTIONS = (
        "{path!r} predicts {labels}, and {model!r} and the data know none of these "
        "labels, but {known}. Use the same names."
    )
    BAD_ARMS_SHAPE = (
        "arms is {value}, but must be a mapping from the name of each arm to a list of "
        'its pipelines, such as {{"base": ["run0", "run1"], "spans": ["run2"]}}.'
    )
    NO_ARMS = "There is nothing to compare: name at least one pipeline for each arm."
    NO_ENSEMBLE = (
        "No arm has several runs, so there is nothing to put together. Name an arm "
        "again for each of its runs: base=run0 base=run1"
    )
    OTHER_WORDS = (
        "The pipelines of an ensemble cut the same text into other tokens, so their "
        "predictions cannot be put together: {text!r}"
    )
    ARMS_AND_RUNS = (
        "Name pipelines either as arguments or by --runs, not both: {arms} would be "
        "left out."
    )
    DATA_FOR_EACH = (
        "The number of --data is {n_data}, that of tasks {n_tasks}. Give it once for "
        "each folder of --runs, in the same order; with pipelines as arguments, once."
    )
    SAME_TASK = (
        "Two folders of --runs are named {name!r}, and folders give the tasks their "
        "names. Rename one of them."
    )
    BAD_RUNS = "{path} is damaged: {reason}."
    NO_RUNS = (
        "'{path}' is not a folder of runs: it has no arms.json. Name the folder of a "
        "task that a matrix was trained in: OUTPUT/TASK."
    )
    MISSING_RUNS = (
        "The matrix in '{folder}' is not complete. {told} Run the matrix again, which "
        "does only what is missing, or compare what is there (--allow-missing). The "
        "logs of failed runs are in ARM/SEED.failed."
    )
    MISSING_OF_WHAT = "--allow-missing is for --runs alone. Leave it out."
    SAME_RUN = (
        "{name!r} has the pipeline {path!r} twice, which makes it no second run. Name "
        "each pipeline of an arm once."
    )
    NO_GOLD = (
        "There is nothing to find in {path!r}: no text of it has anything that "
        "{metric} scores. Is it the data of another task?"
    )
    OTHER_LABELS = (
        "The data has the labels {there}, and the pipeline {path!r} knows none of "
        "them: {known}."
    )
    NO_BASELINE = (
        "{folder!r} has no finished run of {name!r}, the first arm in arms.json, which "
        "the others are compared with: no {name}/SEED/run.json is there."
    )
    NO_TEST_DATA = (
        "There is no test data in '{folder}', on which the arms are compared. Put a "
        "test.spacy there, or a test.csv, .tsv or .jsonl."
    )
    NO_GOLD_LABELS = (
        "No text of '{path}' has a label, an entity or a span, so that nothing can be "
        "compared on it. The training data has: {known}."
    )
    OTHER_TEST_LABELS = (
        "'{path}' has the labels {there}, and the training data has none of them: "
        "{known}."
    )
    NO_EXTRA = (
        "{feature} needs {missing}, which is not installed: "
        'pip install "spacy-spanft[{extra}]"'
    )
    NO_CLUSTER = (
        "There is no Ray cluster at {address!r}: {reason}. Start one there (ray start "
        "--head), or name another with --address HOST:PORT. Without an address, one is "
        "started on this machine for as long as it is needed."
    )
    RAY_NOT_STARTED = (
        "Ray cannot be started on this machine: {reason}. Fix that, or name a cluster "
        "that is there with --address HOST:PORT."
    )
    WORKER_LOST = (
        "A worker process was lost {n_times} times over the same task, perhaps because "
        "memory ran out{reason}. Use fewer workers at a time, or give them more memory."
    )
    ADDRESS_WITHOUT_RAY = (
        "The address {address!r} would be that of a Ray cluster, but the engine is "
        "{engine!r}. Add --engine ray, or leave --address out."
    )
    NO_METRIC = (
        "The pipeline {path!r} has no metric {name!r}. It has: {there}. Metrics are "
        "known of textcat, textcat_multilabel, text_regressor, ner, bilou_ner and "
        "spancat."
    )
    UNKNOWN_WEIGHT = (
        "What counts most in [training.score_weights] of {path!r} is {names}, which "
        "cannot be compared. Name what can be (--metric, or in task.json): {there}."
    )
    OTHER_POSITIVE = (
        "The positive label is {label!r}, but the labels of {path!r} are: {labels}. "
        "Name one of them (--positive-label, or in task.json)."
    )
    OTHER_MEANINGS = (
        "{metric} is {one} for {first!r} and {other} for {second!r}. Name a metric "
        "that is the same for all, such as cats_macro_f (--metric, or in task.json)."
    )
    OTHER_TEXTS = (
        "The pipelines of {name!r} read other texts in the data than those of the "
        "first arm, so they cannot be compared text by text. Do they have another "
        "corpus, or another separator?"
    )
    NOT_DOCBINS = (
        "{path!r} does not end in .spacy, and the pipeline's own dev corpus reads such "
        "files alone. Convert it first: python -m spacy spanft convert IN OUT.spacy"
    )
    NO_DOCBINS = (
        "There is no .spacy file in the folder {path!r}. Name a folder that has some, "
        "or a file."
    )
    MEASURER_DIED = (
        "The process that measured {path!r}, of the arm {arm!r}, was killed, perhaps "
        "because memory ran out. Close what else takes memory, or take less test data."
    )
