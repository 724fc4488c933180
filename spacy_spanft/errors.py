"""What goes wrong, in words: the problem, the value, and the mend.

Everything a user can mend is raised as a `SpanftError`, so that the command
line can print the message alone, without a traceback.
"""


class SpanftError(ValueError):
    """Wrong input that the user can mend."""


class CorpusError(SpanftError):
    """Text that cannot be read."""


class DictionaryError(SpanftError):
    """A dictionary file that cannot be read, or a setting it cannot have."""


class AlignmentError(SpanftError):
    """Spans that cannot be pooled."""


class SettingError(SpanftError):
    """A setting that no layer can have."""


class PairError(SpanftError):
    """Two texts that cannot be told apart, or not be encoded as a pair."""


class ConfigError(SpanftError):
    """A config that spans cannot be put into."""


class ScoreError(SpanftError):
    """Scores that cannot be learnt."""


class LabelError(SpanftError):
    """Labels that a component cannot learn."""


class ReaderError(SpanftError):
    """Rows of which no examples can be made."""


class Errors:
    """Messages with named gaps, filled with `str.format`."""

    # Text
    NOT_FOUND = (
        "There is no file {path!r}. Paths are relative to the current folder, {cwd!r}."
    )
    IS_FOLDER = "{path!r} is a folder. Name the text files in it one by one."
    NOT_A_FILE = "{path!r} is a folder, not a file."
    NOT_READABLE = "{path!r} cannot be read: you are not allowed to."
    NO_STDIN = "There is no standard input to read: it is closed."
    NUL_BYTE = (
        "{path!r} holds a NUL byte at byte {offset}{packed}, so it is not a text "
        "file. If it is UTF-16, convert it to UTF-8 first. If it is text but for a "
        "few such bytes, errors='replace' (--errors replace) goes on."
    )
    BAD_UTF8 = (
        "{path!r} is not valid UTF-8 at byte {offset}{packed} (0x{byte:02x}: "
        "{reason}). If the file is in another encoding, perhaps Latin-1, convert it: "
        "iconv -f LATIN1 -t UTF-8 FILE. To replace such bytes and go on, use "
        "errors='replace' (--errors replace)."
    )
    BAD_ARCHIVE = (
        "{path!r} cannot be unpacked ({reason}). The file is cut short or damaged, "
        "or its ending ({suffix}) does not name the way it was packed."
    )
    BAD_ERRORS = "errors is {value!r}, but must be 'strict' or 'replace'."
    NO_TEXT = "There is no text in {sources}: not a single word was read."
    NOT_A_STRING = (
        "Text {index} is a {type}, not a string. To count one single text, put it "
        "into a list."
    )
    COLUMN_OF_OTHERS = (
        "Column {column!r} of dataset {name!r} holds {type}, not text. Choose another "
        "one with column=... (--column)."
    )
    NO_SPLIT = (
        "There is no split {split!r} in dataset {name!r}. It has: {splits}. Choose one "
        "with split=... (--split)."
    )
    NO_DATASET_FOLDER = (
        "There is no folder {name!r}. A dataset is named as on the hub, or by the path "
        "of a local folder."
    )
    DATASET_IS_FILE = (
        "{name!r} is a file, not a dataset. Text to count is read from files by "
        "NgramDictionary.from_files (on the command line, name it without --dataset), "
        "and examples by spacy-spanft.TableCorpus.v1."
    )
    ONE_STRING = (
        "texts is one single string. Pass a list of strings; for the lines of a "
        "file, use NgramDictionary.from_files."
    )
    NO_COLUMN = (
        "There is no column {column!r} in dataset {name!r}. It has: {columns}. "
        "Choose one with column=... (--column)."
    )
    NO_DATASET = "Dataset {name!r} cannot be loaded: {reason}"

    # Tokenizers
    NO_LANGUAGE = (
        "There is no spaCy tokenizer for {name!r} ({reason}). Use a language code "
        "such as 'en', 'whitespace' for text that is tokenised already, or a "
        "tokenizer such as nlp.tokenizer."
    )
    WORKER_DIED = (
        "A process that tokenised was killed, perhaps because memory ran out. Use "
        "fewer of them: n_process (--n-process)."
    )
    BAD_PROCESSES = "n_process is {value!r}, but must be 1 or more."

    # Dictionaries
    BAD_MAX_N = (
        "max_n is {value!r}, but must be a whole number from 2 to 255: an n-gram "
        "has at least two words."
    )
    BAD_MIN_COUNT = "min_count is {value!r}, but must be a whole number of 1 or more."
    BAD_TOP = "k is {value!r}, but must be a whole number of 0 or more."
    BAD_RANKING = "There is no ranking by {value!r}. Use 'count' or 'pmi'."
    BAD_ATTR = "attr is {value!r}, but must be 'LOWER' or 'ORTH'."
    BAD_NGRAM = (
        "{ngram!r} is not an n-gram: two or more words with single spaces between "
        "them are expected."
    )
    BAD_WORD = "{word!r} is not a word: a string without white space is expected."
    BAD_COUNT = "The count of {ngram!r} is {count!r}, but must be a whole number > 0."
    NO_TOKEN_COUNT = (
        "PMI needs the number of tokens counted, and this dictionary does not know it. "
        "For counts of your own: NgramDictionary(ngrams, words=..., "
        "provenance=Provenance(n_tokens=...))."
    )
    NOT_A_MAPPING = "{value!r} is a {type}, but must be an NgramDictionary."
    NO_WORD_COUNTS = (
        "PMI needs the counts of the single words, and this dictionary has none for "
        "{word!r}. Dictionaries counted by NgramDictionary.from_files and the like "
        "have them."
    )
    OTHER_ATTR = (
        "One dictionary is over {ours!r}, the other over {theirs!r}. Count both "
        "with the same attr."
    )
    NO_DEFAULT = (
        "There is no default dictionary for {lang!r}, only for: {available}. Build "
        "one with: python -m spacy spanft dictionary build TEXT -o FILE --lang {lang}"
    )

    # Dictionary files
    NOT_A_DICTIONARY = (
        "{path} is not an n-gram dictionary: {reason}. Dictionaries are written by "
        "NgramDictionary.to_disk and by: python -m spacy spanft dictionary build"
    )
    DAMAGED = "{path} is damaged: {reason}. Copy it again, or build it anew."
    NEWER_FORMAT = (
        "{path} has format version {found}, but this spacy-spanft ({version}) reads "
        "up to version {known}. Upgrade: pip install --upgrade spacy-spanft"
    )
    BAD_ROW = "line {line}: {row!r} is not an n-gram, a tab and a count"

    # Segmentation
    BAD_SEGMENT = (
        "The segmenter {segmenter} gave the span {span!r} for a Doc of {length} "
        "tokens. Spans must be (start, end) or (start, end, label), in order, "
        "disjoint and within the Doc. The Doc begins: {text!r}"
    )
    BAD_SEGMENTATION = (
        "The segmenter {segmenter} gave a {type} for {what}. It must give a list with "
        "the spans of each Doc: [[(start, end), ...], ...]."
    )
    WRONG_NUMBER = "The segmenter {segmenter} got {docs} Docs, but gave {got} results."
    KEY_TAKEN = (
        "doc.spans[{key!r}] is there already, and not written by {name!r} but by "
        "{other}. Give this component another key, or let it overwrite the spans: "
        'nlp.add_pipe("span_segmenter", config={{"spans_key": "other"}}) or '
        'config={{"overwrite": True}}.'
    )
    NO_DICTIONARY_SLOT = (
        "The component {name!r} was given a dictionary at initialisation, but its "
        "segmenter {segmenter} takes none. Remove [initialize.components.{name}], or "
        "use @segmenters = 'spacy-spanft.NgramSegmenter.v1'."
    )
    NOT_SAVED = (
        "{path} does not hold the segmenter's data. Was the pipeline saved with "
        "exclude, or with another segmenter?"
    )
    BAD_LENGTHS = (
        "lengths is {value!r}, but must be one or more weights, none negative, not "
        "all zero: the first for spans of one token, the second for two, and so on."
    )
    BAD_CHUNKER = "There is no chunker {value!r}. Use 'entities' or 'phrases'."
    NO_NLTK_DATA = (
        "NLTK's data is missing: {resource}. Get it with:\n\n"
        "    python -m nltk.downloader {packages}\n\n"
        "If it is on this machine already, set NLTK_DATA to its folder. Searched: "
        "{searched}"
    )

    # Span encoder
    NO_SPANS = (
        "doc.spans has no {key!r} (it has: {there}). If the pipeline is being trained, "
        "the component that writes them must be among the annotating components. "
        "Put this into the config:\n\n"
        "    [training]\n"
        '    annotating_components = ["span_segmenter"]\n\n'
        "and check that span_segmenter stands before this component in [nlp] pipeline."
    )
    NO_TRANSFORMER = (
        "There is no transformer for this component to listen to. Put one before it "
        'in [nlp] pipeline (factory = "transformer"), and name it in the component\'s '
        '[...model.tok2vec] upstream, or leave upstream at "*". A transformer that '
        "is frozen in training must be taken from a trained pipeline (source = ...), "
        "and be among the annotating_components."
    )
    BAD_SETTING = "{name} is {value!r}, but must be {expected}."
    NO_WINDOW = (
        'Without segmentation (segmentation = "none"), the windows of the span pooling '
        "go over the whole text, and this one has no windows. Use @architectures = "
        '"spacy-spanft.CnnPooling.v1" as span_pooling.'
    )
    OVERLAP = (
        "The spans in doc.spans[{key!r}] overlap, so they cannot be pooled one by one: "
        "the first two that do are {one!r} and {two!r}. Use the spans of a "
        "span_segmenter, or make them disjoint with spacy.util.filter_spans."
    )

    # Pairs
    SEPARATOR_INSIDE = (
        "The first text of a pair holds the separator {separator!r} itself, so nobody "
        "could tell where it ends: {text!r}. Take it out, or choose another separator."
    )
    SEPARATOR_SPLIT = (
        "The separator {separator!r} is not a token by itself in {text!r}. It needs "
        "white space on both sides, and the tokenizer must know it:\n\n"
        "    [nlp.tokenizer]\n"
        '    @tokenizers = "spacy-spanft.PairTokenizer.v1"\n'
        '    separator = "{separator}"'
    )
    BAD_SEPARATOR = (
        "The separator is {separator!r}, but must be a word without white space."
    )
    SLOW_TOKENIZER = (
        "{name} is not a fast tokenizer, so it does not say which characters its "
        "wordpieces are made of. Set use_fast = true in the transformer's "
        "tokenizer_config; some encoders have no fast tokenizer."
    )
    NO_SEPARATOR = (
        "The tokenizer of {name!r} has no separator (sep_token), so it cannot encode "
        "pairs of texts. Use an encoder such as BERT or RoBERTa, or give it one: "
        '[components.transformer.model.tokenizer_config] sep_token = "</s>"'
    )

    # Readers
    NO_COLUMN_IN = (
        "{setting} = {column!r}, but there is no such column in {source}, {place}. It "
        "has: {columns}."
    )
    NO_FORMAT = (
        "{path!r} does not end in .tsv, .csv or .jsonl. Say what it is with "
        'format = "tsv".'
    )
    NO_ROWS = "There are no rows in {source}."
    BAD_CELLS = (
        "{place} of {source} has {found} cells, but there are {expected} columns: "
        "{columns}."
    )
    BAD_HEADER = "The first line of {source} names the column {column!r} twice."
    BAD_JSON = "{place} of {source} is no JSON object: {reason}."
    BAD_CSV = "{place} of {source} is no CSV: {reason}."
    NO_TEXT_IN = (
        "{place} of {source} has {value!r} in column {column!r}, which is not a text."
    )
    BAD_TEXT_IN = (
        "{place} of {source} has a text in column {column!r} that cannot be encoded as "
        "UTF-8 ({reason}): half a character, perhaps."
    )
    BAD_LABEL_IN = (
        "{place} of {source} has {value!r} for a label. Labels are strings or numbers, "
        "or lists of them."
    )
    NO_LABEL_IN = (
        "{place} of {source} has no label: column {column!r} holds {value!r}. Rows "
        "without labels, such as GLUE's test data, cannot be learnt from or scored; to "
        "read them all the same, set label = null."
    )
    UNKNOWN_LABEL = (
        "{place} of {source} has the label {value!r}, but labels names only: {labels}."
    )
    NO_NUMBER = (
        "{place} of {source} has {value!r} in column {column!r}, which is no number. "
        "Name the column as label, not as score, if it holds labels."
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
    OTHER_COLUMNS = (
        "{place} has {found} columns, but the first line has {expected}. Is there a "
        "space inside a token?"
    )
    BAD_TAG = (
        "{place} has the tag {tag!r}, but tags must be O, or B- or I- and a label, "
        "such as B-PER, in the last column."
    )

    # Configs
    NOT_A_CONFIG = "{path!r} is not a config that spaCy reads: {reason}"
    BAD_VARIABLES = "The config has a variable that nothing is known of: {reason}"
    NO_HEAD = (
        "There is nothing here that could get spans: {there}. It takes a component "
        "whose factory is one of {factories}, or, named with --component, any other "
        "that has a tok2vec."
    )
    NO_SUCH_COMPONENT = "There is no {name!r} in [nlp] pipeline. It has: {there}."
    SOURCED = (
        "There is nothing in the config itself that could get spans, and {name!r} is "
        "taken from the trained pipeline {source!r}: its model cannot be exchanged. "
        "Give it a factory and a model block of its own."
    )
    HAS_SPANS = "Spans are in there already: {names}."
    NO_TOK2VEC = (
        "The model of {name!r} has no tok2vec, and no transformer stands before it in "
        "[nlp] pipeline, so there are no vectors to pool. Put a transformer before it, "
        "or give it a model with a tok2vec. Such a config is made by: "
        "python -m spacy init config base.cfg --pipeline textcat --gpu"
    )

    OTHER_SEPARATOR = (
        "The corpus puts {separator!r} between two texts, and the component {name!r} "
        "has separator = {other!r}. They must be the same: set all of them to "
        "${{nlp.tokenizer.separator}}."
    )

    # Scores
    EXCLUSIVE = (
        "The model of {name!r} has exclusive_classes = true: of one label alone it is "
        "always sure. Set [components.{name}.model] exclusive_classes = false."
    )
    NO_POSITIVE_LABEL = (
        "positive_label = {label!r}, but the labels are: {labels}. Set it in the "
        "scorer's block to one of them."
    )
    BAD_RANGE = (
        "The lowest score is {low!r} and the highest {high!r}, but the first must be a "
        "number below the second."
    )
    NO_SCORE = (
        "{name!r} learns doc.cats[{label!r}], but no example has it (there are: "
        "{there}). Name the column of the scores in the corpus (score = ...), or set "
        "[components.{name}] label to what they are called."
    )
    OUT_OF_RANGE = (
        "{name!r} learns scores between low = {low} and high = {high}, and found "
        "{score} at {text!r}. Set [components.{name}] low and high to the range of "
        "your data."
    )

    # Labels
    BAD_LABEL = (
        "{label!r} cannot be a label of {name!r}: a string of one character or more is "
        "expected."
    )
    NO_ENTITIES = (
        "{name!r} has no labels: not one example that it is initialised with has an "
        "entity (doc.ents). Is the path in [corpora.train] right?"
    )
    NEW_LABEL = (
        "{name!r} knows no label {label!r}, which the data has; it knows: {labels}. "
        "Add it before training: nlp.get_pipe({name!r}).add_label({label!r})"
    )

    # Command line
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
