"""Messages of errors: corpora, and configs."""

from .shortening import shortened


@shortened
class DataErrors:
    """Messages with named gaps, filled with `str.format`."""

    # Readers
    NO_COLUMN_IN = (
        "There is no column {column!r} in {place} of {source}. It has: "
        "{columns}.{hint} Name the right one: --{option} NAME where a command has it, "
        '{setting} = "..." in a config, or "columns" in the task.json of an experiment.'
    )
    NO_FORMAT = (
        "{path!r} does not end in .tsv, .csv or .jsonl. Save it in one of these "
        'formats, or, if it is in one, rename it or set format = "tsv" (--format tsv, '
        "where a command has it). CoNLL's columns are for ner, bilou_ner and spancat."
    )
    OTHER_FOLDER = (
        "{path!r} is a folder, and folders are read only if they have .spacy files and "
        "nothing else. Name one file. Files in it: {files}."
    )
    HEADER_OF_JSON = (
        "header names the columns of TSV and CSV, but {source} is read as JSONL, which "
        "names them in each line. Leave header out."
    )
    NO_ROWS = "There are no rows in {source}."
    ONLY_HEADER = (
        "There are no rows in {source} except for line {line}, which is taken for the "
        "names of the columns: {columns}. If the file has no such line, add it, or "
        "name them with header = [...] in a config."
    )
    BAD_CELLS = (
        "{place} of {source} has {cells}, but the table has {expected}: {columns}."
        "{hint}"
    )
    BAD_HEADER = "{place} names the column {column!r} twice."
    BAD_JSON = "{place} of {source} is not a JSON object: {reason}."
    BAD_CSV = "{place} of {source} is not valid CSV: {reason}."
    NO_TEXT_AT_ALL = (
        "No row of {source} has text in column {columns} ({n_rows:,} read). Name "
        "another column (text = ...), or another file."
    )
    NO_TEXT_IN = (
        "{place} of {source} has {value!r} in column {column!r}, which is not a text."
    )
    BAD_TEXT_IN = (
        "{place} of {source} has {value!r} in column {column!r}, which cannot be "
        "encoded as UTF-8 ({reason}): half a character, perhaps."
    )
    TEXT_TOO_LONG = (
        "{place} has {length:,} characters of text, and the pipeline "
        "takes {longest:,} (nlp.max_length). Cut it into several texts, or raise that "
        "in a callback of the config's [nlp] after_creation."
    )
    BAD_LABEL_IN = (
        "{place} of {source} has {value!r} for a label. Labels are strings with "
        "something in them or numbers, or lists of them."
    )
    BAD_LABEL_TEXT_IN = (
        "{place} of {source} has the label {value!r}, which cannot be encoded as UTF-8 "
        "({reason}): half a character, perhaps."
    )
    NO_LABEL_IN = (
        "{place} of {source} has no label: column {column!r} holds {value!r}. Rows "
        "without labels, such as GLUE's test data, cannot be learned from or scored: "
        "remove them. To read the texts alone, set label = null in a config, or use "
        "--no-label of spanft convert."
    )
    UNKNOWN_LABEL = (
        "{place} of {source} has the label {value!r}, but labels names only: {labels}."
    )
    NO_PAIR = (
        "{source} holds a text without the separator {separator!r}, but pairs are "
        "expected (text_pair is set): {text!r}"
    )
    NO_NUMBER = (
        "{place} of {source} has {value!r} in column {column!r}, which is not a finite "
        "number. Write one, or remove the row; if the column holds labels, name it as "
        "label and not as score."
    )
    LABELS_AND_SCORE = (
        "labels gives names to labels, and score = {score!r} says that there are none: "
        "leave one of them out."
    )
    NO_READER_PATH = (
        "This corpus has no path. Set it in the config or on the command line: "
        "--paths.train train.tsv --paths.dev dev.tsv"
    )
    NO_TAG = (
        "{place} is {cells!r}, but must be a token and its tag, with a tab or a space "
        "between them: columns as CoNLL has them."
    )
    IS_DOCBIN = (
        "{path!r} is in spaCy's own format, not in columns. It is read by @readers = "
        '"spacy.Corpus.v1".'
    )
    NUMBERED = (
        "The first column of {source} numbers the tokens, but must hold them. Take it "
        "out, so that lines begin with the token, such as {cell!r}."
    )
    OTHER_COLUMNS = (
        "{place} has {found} columns, but the first line has {expected}. Is there a "
        "space inside a token?"
    )
    BAD_TAG = (
        "{place} has the tag {tag!r}, but tags must be O, or B- or I- and a label, "
        "such as B-PER, in the last column (IOB1 or IOB2; BILUO and BIOES, too).{hint}"
    )
    # What is said beside one of the above.
    UPPER_CASE = " Write the letter in upper case: {tag!r}."
    NO_COMMENTS = (
        " If lines that begin with # are comments in this file, take them out first: "
        "in CoNLL's columns there are none."
    )
    NO_TOKENS = (
        "{place} of {source} has {value!r} in column {column!r}, but must have a list "
        "of strings, none of them empty."
    )
    OTHER_LENGTHS = "{place} of {source} has {n_tokens} tokens, but {n_tags} tags."
    NUMBERED_TAGS = (
        "{place} of {source} has {value!r} in column {column!r}, and the dataset does "
        "not name its tags. Tags must be strings such as B-PER, or numbers that a "
        "ClassLabel gives names to."
    )

    # Converting
    CONVERTED = "{path!r} is in spaCy's format already."
    NOT_SPACY = (
        "The output {path!r} does not end in .spacy: spaCy finds no data in files with "
        "other endings."
    )
    OTHER_KIND_OF_INPUT = (
        "The input is read as {kind}, so {options} would do nothing. Leave that out, "
        "or say with --format what the input is."
    )
    NO_LABEL_AND = "With --no-label the texts alone are read: leave out {others}."
    LABEL_AND_SCORE = (
        "A text has either a label or a number: leave out --label or --score."
    )
    SAME_COLUMN = (
        "{one} and {other} are both the column {column!r}. Name another column for "
        "one of them."
    )
    ONLY_EMPTY = (
        "There is no text in {source} with anything in it, so nothing is written."
    )
    SEPARATOR_ALONE = (
        "--separator {separator!r} stands between two texts, but there is only one. "
        "Name the column of the second one with --text-pair."
    )
    BAD_LABELS_OPTION = (
        "--labels is {value!r}, but must be as 0=bad,1=good, or a JSON object."
    )
    BAD_JSON_OPTION = "{option} is not JSON: {reason}."
    BAD_LANG = "There is no tokenizer of the language {lang!r}: {reason}"
    UNKNOWN_LANG = (
        "{lang!r} is not the code of a language that spaCy knows, such as 'en' or 'de'."
    )

    # Tasks
    NO_TASK = "There is no task {name!r}. There are: {there}."
    OTHER_KIND = "{name!r} is not a task of kind {kind!r}. These are: {there}."
    NO_DATA_DIR = "There is no folder {path!r} (seen from {cwd})."
    NO_TASK_FILES = (
        "The data of {name} is not in {path!r}. Looked for {files}, in {folders}."
    )
    NO_LAYOUT = "{path!r} has the columns {there}, but for {name} must have {expected}."
    NO_TASK_DATASET = (
        "{reason}. Where the data of {name} cannot be downloaded, name a folder that "
        "has it: --data-dir FOLDER, with {files} in it or in FOLDER/{folder}."
    )
    NO_TOKENIZER_OF = "The tokenizer of {name!r} cannot be loaded: {reason}"
    TOO_FEW_ROWS = "The data of {name} has only {n} rows: none are left for {part}."

    # Configs
    NOT_A_CONFIG = "{path!r} is not a config that spaCy reads: {reason}"
    BAD_VARIABLES = "The config has a variable that nothing is known of: {reason}"
    NO_HEAD = (
        "There is nothing here that could get spans: {there}. It takes a component "
        "whose factory is one of {factories}, or, named with --component, any other "
        "that has a tok2vec."
    )
    NO_PIPELINE = (
        "There is no component in this config: [nlp] pipeline is empty, or not there. "
        "Name a config for training, such as one made by: python -m spacy init config"
    )
    NO_SUCH_COMPONENT = "There is no {name!r} in [nlp] pipeline. It has: {there}."
    SOURCED = (
        "There is nothing in the config itself that could get spans. What is taken "
        "from a trained pipeline (source) cannot get another model: {names}. Give the "
        "component a factory and a model block of its own."
    )
    HAS_SPANS = "There are {what} already, nothing to add: {names}."
    UNUSED_DICTIONARY = (
        "--dictionary is for spans, and {names} would look at none. Set --segmentation "
        "spans (for tokens, none is the default), or leave out --dictionary."
    )
    NO_BLOCK = (
        "[nlp] pipeline names {name!r}, and there is no [components.{name}]. Add that "
        "block, or take the name out of the pipeline."
    )
    ENGLISH_DICTIONARY = (
        "The default dictionary is English, and the language is {lang!r}. Build one of "
        "your own text (python -m spacy spanft dictionary build) and name it by "
        "--dictionary, or leave the spans out (--segmentation none, or --no-spans for "
        "the baseline)."
    )
    NO_SUCH_COLUMNS = (
        "{options} cannot be set for {task}, whose columns are: {columns}. Remove it, "
        "or name another --pipeline."
    )
    OTHER_PART = (
        "[corpora.{name}] has part = {part!r}, so that the dev data are among those "
        'that are learned from. Set part = "{name}".'
    )
    OTHER_PARTS = (
        "[corpora.train] and [corpora.dev] are parts of a corpus that differ in "
        "{names}, so that texts of one can be in the other. Set the same in both."
    )
    NOTHING_HELD_OUT = (
        "Nothing can be held out: at least two different texts are needed, and the "
        "training data has {n_texts:,} (number of rows: {n_rows:,}). Add rows, or name "
        "dev data (--dev of spanft init)."
    )
    NO_TASK_IN = (
        "Nothing is annotated in {path!r} that could be learned. Name what is trained "
        "with --pipeline: {known}."
    )
    NO_READER_FOR = (
        "{path!r} cannot be read for {task}, which takes spaCy's binary data (.spacy) "
        "or CoNLL's columns (.conll or .iob)."
    )
    SEVERAL_LABELS = (
        "{path!r} has texts with several labels or none ({n:,}), and textcat wants one "
        "for each. Take --pipeline textcat_multilabel."
    )
    NO_SCORES = (
        "{path!r} has no scores for {task}, but labels or nothing: each text needs "
        "doc.cats['score'] and no other label."
    )
    NOTHING_TO_LEARN = (
        "{path!r} has nothing that {task} learns: no {wanted}.{hint} Name other "
        "training data, or another --pipeline."
    )
    ONE_CLASS = (
        "All texts of {path!r} that are trained on have the label {label!r}, and "
        "{task} learns to tell labels apart. Add texts with another label."
    )
    CONFIG_EXISTS = "{path!r} already exists. To overwrite it, add --force (-F)."
    DEV_WITHOUT_TRAIN = "--dev without --train: add the training data."
    SETTING_WITHOUT_SPANS = (
        "--no-spans makes the baseline, which has no use for {options}. Leave out "
        "either."
    )
    NO_TOK2VEC = (
        "The model of {name!r} has no tok2vec, and no transformer stands before it in "
        "[nlp] pipeline, so there are no vectors to pool. Put a transformer before it, "
        "or give it a model with a tok2vec. Such a config is made by: "
        "python -m spacy spanft init base.cfg --pipeline textcat --no-spans, or, where "
        "spacy-transformers is installed, "
        "python -m spacy init config base.cfg --pipeline textcat --gpu (What is taken "
        "from a trained pipeline, with source, is not looked into: give the model of "
        "{name!r} a tok2vec that listens to it.)"
    )
    UNKNOWN_FACTORIES = (
        "There is no factory with the name {names}. Is it misspelled, or does it need "
        "a package that is not installed, or --code?"
    )
