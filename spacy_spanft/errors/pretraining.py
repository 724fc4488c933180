"""Messages of errors: pre-training an encoder."""


class PretrainingErrors:
    """Messages with named gaps, filled with `str.format`."""

    NO_INPUT_TEXT = "There is nothing to read. Name text files: --text FILE"
    NO_ENCODER = "The model {name!r} cannot be loaded: {reason}"
    NO_MLM_HEAD = (
        "The model {name!r} is of type {kind!r}, for which transformers has no masked "
        "language model (AutoModelForMaskedLM). Take an encoder such as BERT, RoBERTa "
        "or ALBERT."
    )
    NO_FAST_TOKENIZER = (
        "The tokenizer of {name!r}, a {kind}, is not a fast one, and only those tell "
        "which tokens are a word together. Take a model that has a tokenizer.json."
    )
    NO_MASK = (
        "The tokenizer of {name!r} has no mask token, so the model was not made for "
        "masking. Take another model, or give the tokenizer one: "
        'tokenizer.add_special_tokens({{"mask_token": "[MASK]"}})'
    )
    TOO_MANY_TOKENS = (
        "The tokenizer of {name!r} knows {tokens:,} tokens, but the model has "
        "embeddings for {rows:,} only. Do they belong together?"
    )
    NO_WORDS = (
        "Nothing tells which tokens are a word together: there are only {there}. Give "
        "the collator what a fast tokenizer returns, as it is, or let it keep the "
        "offsets: tokenizer(text, return_offsets_mapping=True)"
    )
    NO_SEGMENTS = (
        'masking = "ngrams" needs to know the n-grams: segment_ids beside input_ids, '
        "with one number for all tokens of an n-gram, or of a word in none."
    )
    TEXT_TOO_SHORT = (
        "The text in {sources} is too short to mask: the longest sequence, of {length} "
        "tokens at most, has {most} words, and at least {needed} are needed. Short "
        "lines can be packed (--pack), sequences be longer (--max-length)."
    )
    ONLY_FROM_SCRATCH = (
        "{names} can only be set from scratch (--from-scratch): weights that are there "
        "have their own shape."
    )
    DICTIONARY_UNUSED = (
        "A dictionary was given, but masking is {masking!r}, which has no use for it. "
        'Set masking = "ngrams" (--masking ngrams).'
    )
    OUTPUT_TAKEN = (
        "The folder {path!r} is not empty. Go on with the training in it (--resume), "
        "start over in it (--overwrite), or name another."
    )
    OUTPUT_NOT_OURS = (
        "The folder {path!r} is not empty, and no training was begun in it (it has no "
        "pretraining.json), so nothing in it is touched. Name another."
    )
    MODEL_IN_OUTPUT = (
        "The model {model!r} is in the output {path!r}, and would be overwritten "
        "before it is read. Name another output."
    )
    NO_CHECKPOINT = "There is no whole checkpoint in '{path}': training starts over."
    NOTHING_TO_GO_ON_FROM = (
        "{path!r} holds an encoder that is finished, and no checkpoint to go on from. "
        "Start over (--overwrite), or take it as --model for another output."
    )
    BAD_CHECKPOINT = (
        "{path!r} is damaged: {reason}. Delete the folder {checkpoint!r} to go on from "
        "the checkpoint before it."
    )
    STDIN_TWICE = "The standard input ('-') can be read only once. Name it once."
    NEEDS_GPU = (
        "Mixed precision ({precision}) needs a GPU, and there is none. Leave out "
        "--precision."
    )
    BATCH_TOO_LARGE = (
        "One step takes {per_step:,} sequences, but the text has {n_sequences:,} in "
        "all. Lower --batch-size or --accumulate, or read more text."
    )
    TOO_LITTLE_MEMORY = (
        "Training needs about {needed:.1f} GB of memory for {batch_size} sequences of "
        "{length} tokens at once, and there are {there:.1f} GB. Lower --batch-size and "
        "raise --accumulate, or lower --max-length."
    )
    OTHER_TEXT = "the text is another one, or the dictionary that marks its n-grams"
    RESUME_OR_OVERWRITE = "Either go on (--resume) or start over (--overwrite)."
    OTHER_TRAINING = (
        "What was begun in {path!r} cannot go on like this: {changes}. Set it as it "
        "was, or start over (--overwrite)."
    )
    BAD_RECORD = (
        "{path!r} is damaged, so nobody knows what was begun there. Start over "
        "(--overwrite)."
    )
    BAD_HEADS = "The heads in {path!r} do not fit the model: {reason}"
    NOT_WRITTEN = "a checkpoint cannot be written, perhaps the disk is full ({reason})"
    STOPPED_EARLY = (
        "No checkpoint was written yet (--save-every): the same command with --resume "
        "starts over."
    )
    STOPPED_TRAINING = (
        "The last checkpoint is whole: the same command with --resume goes on from it."
    )
