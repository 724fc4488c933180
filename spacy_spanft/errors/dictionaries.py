"""Messages of errors: building and reading dictionaries."""


class DictionaryErrors:
    """Messages with named gaps, filled with `str.format`."""

    # Text
    NOT_FOUND = (
        "There is no file {path!r}. Paths are relative to the current folder, {cwd!r}."
    )
    IS_FOLDER = "{path!r} is a folder. Name the text files in it one by one."
    NOT_A_FILE = "{path!r} is {kind}, not a file."
    NOT_READABLE = "{path!r} cannot be read: you are not allowed to."
    NO_STDIN = "There is no standard input to read: it is closed."
    NUL_BYTE = (
        "{path!r} holds a NUL byte at byte {offset}{packed} (line {line}), so it is "
        "not a text file. If it is UTF-16, convert it to UTF-8 first. If it is text "
        "but for a few such bytes, errors='replace' goes on (--errors replace, where a "
        "command has it)."
    )
    BAD_UTF8 = (
        "{path!r} is not valid UTF-8 at byte {offset}{packed} (line {line}, "
        "0x{byte:02x}: {reason}). If the file is in another encoding, perhaps Latin-1, "
        "convert it: iconv -f LATIN1 -t UTF-8 FILE. To replace such bytes and go on, "
        "use errors='replace' (--errors replace, where a command has it)."
    )
    BAD_ARCHIVE = (
        "{path!r} cannot be decompressed ({reason}). The file is cut short or damaged, "
        "or its ending ({suffix}) does not name the way it was compressed."
    )
    BAD_ERRORS = "errors is {value!r}, but it must be 'strict' or 'replace'."
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
        "with split=... (--split, where a command has it)."
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
    NOT_TEXTS = "texts is {value}, but must be a list of strings, or what gives such."
    NOT_PATHS = "paths is {value}, but must be the path of a text file, or several."
    NO_PATHS = "paths is empty: name at least one text file."
    NO_COLUMN = (
        "There is no column {column!r} in dataset {name!r}. It has: {columns}. "
        "Choose one with column=... (--column)."
    )
    NO_DATASET = "Dataset {name!r} cannot be loaded: {reason}"

    # Tokenizers
    NO_LANGUAGE = (
        "There is no spaCy tokenizer for {name!r} ({reason}). Use a language code "
        "such as 'en', 'whitespace' for text that is tokenized already, or a "
        "tokenizer such as nlp.tokenizer."
    )
    WORKER_DIED = (
        "A process that tokenized was killed, perhaps because memory ran out. Use "
        "fewer of them: n_process (--n-process)."
    )
    UNKNOWN_SETTING = (
        "There is no setting {name!r} of how to count. There are: {known}."
    )
    BAD_PROCESSES = "n_process is {value!r}, but it must be 1 or more."

    # Dictionaries
    BAD_MAX_N = (
        "max_n is {value!r}, but it must be a whole number from 2 to 255: an n-gram "
        "has at least two words."
    )
    BAD_MIN_COUNT = (
        "min_count is {value!r}, but it must be a whole number of 1 or more."
    )
    BAD_TOP = "k is {value!r}, but it must be a whole number of 0 or more."
    BAD_RANKING = "There is no ranking by {value!r}. Use 'count' or 'pmi'."
    BAD_ATTR = "attr is {value}, but it must be 'LOWER' or 'ORTH'."
    BAD_NGRAM = (
        "{ngram} is not an n-gram: two or more words with single spaces between "
        "them are expected."
    )
    LARGE_N = "{ngram} is an n-gram of {n:,} words, but the largest n is {largest}."
    LONG_NGRAM = (
        "{start!r} and so on has {size:,} characters, but the longest line of a "
        "dictionary's file has {longest:,}. Take it out of the counts."
    )
    BAD_WORD = "{word} is not a word: a string without white space is expected."
    BAD_COUNT = (
        "The count of {ngram} is {count}, but it must be a whole number > 0 with at "
        "most {digits} digits."
    )
    NO_TOKEN_COUNT = (
        "PMI needs the number of tokens counted, and this dictionary does not know it. "
        "For counts of your own: NgramDictionary(ngrams, words=..., "
        "provenance=Provenance(n_tokens=...))."
    )
    NOT_COUNTS = (
        "{name} is {value}, but must be a mapping to counts, such as a dict. To count "
        "text: NgramDictionary.from_texts, or from_files."
    )
    NOT_PROVENANCE = (
        "provenance is {value}, but must be a spacy_spanft.Provenance, such as "
        "Provenance(n_tokens=1000)."
    )
    NOT_A_MAPPING = "{value!r} is a {type}, but it must be an NgramDictionary."
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
    DAMAGED = "{path} is damaged: {reason}. Copy it again, or build it again."
    NEWER_FORMAT = (
        "{path} has format version {found}, but this spacy-spanft ({version}) reads "
        "up to version {known}. Upgrade: pip install --upgrade spacy-spanft"
    )
    BOMB = "decompressed it is more than {ratio} times as large, and no dictionary is"
    LONG_LINE = "one of its lines is longer than {longest:,} bytes"
    BAD_LINE = "line {line}: {reason}"
    BAD_ROW = "{row!r} is not an n-gram, a tab and a count"
    NOT_FOLDED = "{row!r} has capitals, but case is folded (its attr is LOWER)"
    TWICE = "{row!r} is there twice"
