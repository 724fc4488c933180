"""Messages of errors: cutting texts, and learning from what was cut."""

from .shortening import shortened


@shortened
class ModelErrors:
    """Messages with named gaps, filled with `str.format`."""

    # Segmentation
    BAD_SEGMENT = (
        "The segmenter {segmenter} gave the span {span!r} for a Doc of {length} "
        "tokens. Spans must be (start, end) or (start, end, label), in order, "
        "disjoint and within the Doc. The Doc begins: {text!r}"
    )
    NOT_DOCS = (
        "A segmenter cuts Docs, in a list, but was called with {value}. Make them with "
        "nlp.make_doc(text)."
    )
    BAD_SEGMENTATION = (
        "The segmenter {segmenter} gave a {type} for {what}. It must give a list with "
        "the spans of each Doc: [[(start, end), ...], ...]."
    )
    WRONG_NUMBER = "The segmenter {segmenter} got {docs} Docs, but gave {got} results."
    KEY_TAKEN = (
        "doc.spans[{key!r}] already exists, and was not written by {name!r} but by "
        "{other}. Give this component another key, or let it overwrite the spans: "
        'nlp.add_pipe("span_segmenter", config={{"spans_key": "other"}}) or '
        'config={{"overwrite": True}}.'
    )
    NO_DICTIONARY_SLOT = (
        "The component {name!r} was given a dictionary at initialization, but its "
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
        "doc.spans has no {key!r} (it has: {there}). No component writes it, or the "
        "one that does is disabled or excluded, stands after this one in [nlp] "
        "pipeline, has another spans_key, or, in training, is none of the "
        "annotating_components."
    )
    NO_SPANS_IN_TRAINING = (
        "doc.spans has no {key!r} in training. A component before this one in [nlp] "
        "pipeline must write it, usually a span_segmenter, and be named in the config: "
        '[training] annotating_components = ["span_segmenter"]'
    )
    OTHER_SPANS_IN_TRAINING = (
        "doc.spans has no {key!r} in training, but has {there}. Give the model that "
        "reads and the component that writes the same spans_key. If another component "
        "writes {key!r}, name it in [training] annotating_components."
    )
    NOT_ANNOTATING = (
        "{name!r} learns from doc.spans[{key!r}], which {writer!r} does not write in "
        "training. Set [training] annotating_components = {annotating}."
    )
    SPANS_AFTER = (
        "{name!r} reads doc.spans[{key!r}], and {writer!r}, which writes it, stands "
        "after it. Set [nlp] pipeline = {pipeline}."
    )
    NO_TRANSFORMER = (
        "There is no transformer for this component to listen to. Put one before it "
        'in [nlp] pipeline (factory = "transformer"), and name it in the component\'s '
        '[...model.tok2vec] upstream, or leave upstream at "*". A transformer that '
        "is frozen in training must be taken from a trained pipeline (source = ...), "
        "and be among the annotating_components."
    )
    NUMPY_FOR_CURATED = (
        "spacy-curated-transformers {version} cannot be trained with NumPy {numpy}: it "
        'needs one before 2.4. Run pip install "numpy<2.4".'
    )
    NO_SUCH_SETTING = (
        "transformer_config has {name!r}, which a {kind} does not know. Is it "
        "misspelled?"
    )
    DTYPE_IN_CONFIG = (
        "transformer_config has {name!r}, but weights are kept in single precision, "
        "which fine-tuning needs. What the encoder computes in is the setting "
        'precision: "bf16" or "fp16".'
    )
    BAD_SAVED_ENCODER = (
        "The encoder of {name!r} cannot be read: {reason}. Is the pipeline as it was "
        "saved, with all of its files whole (and no Git LFS pointers in their place)?"
    )
    LABELS_OF_OTHERS = (
        "{name!r} has {n_labels} labels, which need {needed} tags, but its model "
        "predicts {found}. Its files are not those of one pipeline."
    )
    LABEL_TWICE = "class_weights has two weights of {label!r}. Remove one of them."
    NO_TORCHRUN = (
        "This is for several processes, and torchrun starts them: torchrun "
        "--nproc-per-node 2 -m spacy spanft train CONFIG. One trains with spacy train."
    )
    OTHER_WEIGHTS_ELSEWHERE = (
        "The processes do not train the same pipeline: their weights have different "
        "shapes. Do all machines have the same config, code, data and encoder?"
    )
    GPU_OF_ONE = (
        "--gpu-id is {gpu_id}, but each process has the GPU of its own number. Give 0 "
        "for GPUs, and CUDA_VISIBLE_DEVICES to say which."
    )
    NOTHING_TRAINED = (
        "No component of the pipeline is trained: all are frozen, or have no weights."
    )
    OTHER_WEIGHTS = (
        "The weights that were saved are not those of such an encoder. Does "
        "transformer_config in the config that loads them change its shape? {reason}"
    )
    FP16_ON_CPU = (
        'precision = "fp16" trains on GPUs alone. On a CPU, take "bf16" or "single".'
    )
    NO_COMPILER = (
        "compile is true, and on a CPU torch.compile needs a C++ compiler, such as "
        "g++: none is installed. Install one, or set compile to false."
    )
    BAD_WEIGHT_NAME = (
        "class_weights has a weight of {name!r}, which cannot be the name of a setting "
        'in a config: no "=" or ":" is allowed in it, nor "#", ";" or "[" at its '
        'beginning. Write pairs: class_weights = [["{name}", 3.0], ...]'
    )
    BAD_WEIGHT_PAIR = (
        "class_weights has {pair!r}, which must be a pair of a label and its weight: "
        'class_weights = [["LABEL", 3.0], ...]'
    )
    NO_CHECKPOINTING = (
        "gradient_checkpointing is true, and a {name} of this version of transformers "
        "cannot do that. Set it to false; max_batch_rows bounds the memory, too."
    )
    NO_CLASS_WEIGHTS = (
        "A text classifier has class_weights, and nothing has told it the numbers of "
        "its labels. The callback spacy-spanft.prepare_training.v1 does, as "
        "[initialize.after_init]."
    )
    WEIGHT_OF_NOTHING = (
        "class_weights of {name!r} has a weight of {label!r}. Its labels are {labels}."
    )
    BALANCED_STREAM = (
        'class_weights = "balanced" of {name!r} counts the training data, and there is '
        "none, or it streams (max_epochs = -1). Give each label its weight: "
        'class_weights = {{"LABEL": 3.0}}'
    )
    TARGETS_OF_SCORES = (
        "{name!r} learns a score. class_weights and label_smoothing are for labels: "
        "remove them."
    )
    WITHOUT_CLS = (
        "use_cls = false leaves out the vector of the whole text, so that {name} = "
        "{value!r} would change nothing. Leave out one of them."
    )
    NO_CLS = (
        "The encoder's tokenizer puts no [CLS] at the beginning or the end of a text, "
        "so that no vector of it stands for the whole. In the block of the model, set "
        'summary = "mean", or, in SpanTextCat, use_cls = false.'
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
    NOT_A_PAIR = (
        "{pair!r} is not a pair of texts. Give two strings for each: [(first, second), "
        "...]."
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
    EXCLUSIVE_OR_NOT = (
        "[components.{name}] is a {factory}, but its model has exclusive_classes = "
        "{found}. Set [components.{name}.model] exclusive_classes = {expected}, or "
        'take factory = "{other}".'
    )
    NO_SUCH_SCORE = (
        "[training.score_weights] has {metric!r}, which no component computes, so it "
        "would count as 0 and choose no model. {fix}. Computed are: {there}."
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
        "{name!r} has no labels: not one example that it is initialized with has an "
        "entity (doc.ents). In training: is the path in [corpora.train] right, and is "
        "it read by the right @readers? spacy.Corpus.v1 reads .spacy files, "
        "spacy-spanft.ConllCorpus.v1 CoNLL's columns."
    )
    NO_SPAN_GROUP = (
        "{name!r} has no labels: not one example of the training data has a span in "
        "doc.spans[{key!r}] (there are: {there}). Set [components.{name}] spans_key to "
        "what the data has, or let the reader write {key!r}: "
        "spacy-spanft.ConllCorpus.v1 takes spans_key = {key!r}."
    )
    ONE_LABEL = "The labels of {name!r} are {labels!r}, but must be a list of strings."
    WRONG_N_TAGS = (
        "The model of {name!r} has nO = {found}, but {n_labels} labels need {needed} "
        "tags: four for each, and one for what is not an entity. Leave out "
        "[components.{name}.model] nO."
    )
    NEW_LABEL = (
        "{name!r} knows no label {label!r}, which the data has; it knows: {labels}. "
        "Add it before training: nlp.get_pipe({name!r}).add_label({label!r})"
    )

    # Training
    NOT_INITIALIZED = (
        "[initialize.components.{name}] changes nothing: [nlp] pipeline has no "
        "component {name!r}.{hint} It has: {there}."
    )
    UNREAD_SETTING = (
        "{place} = {value!r} is a setting that nothing reads.{hint} Known are: {known}."
    )
    NO_END = (
        "Nothing ends this training: [training] max_steps, max_epochs and patience are "
        "all 0 (or max_epochs is -1). Set one of them to 1 or more."
    )
    NO_STEPS = (
        "spacy-spanft.warmup_linear.v1 ends with the training, and how many steps that "
        "has is not known. Set [training] max_epochs, and let [initialize.after_init] "
        "@callbacks = spacy-spanft.prepare_training.v1 count the steps; for a corpus "
        "that is streamed (max_epochs = -1), set [training] max_steps; in a loop of "
        "your own, the schedule's max_steps."
    )
    NO_BATCHES = (
        "[training.batcher] makes not a single batch of the training data, so that "
        "training would wait forever. Raise its size; it has {settings}."
    )

    # Training regimes
    ONE_UNTIL = (
        "spacy-spanft.freeze_transformer.v1 needs exactly one of until_step, "
        "until_epoch and until_share, and has {given}. Put one into the config, for "
        "instance:\n\n"
        "    [training.before_update]\n"
        '    @callbacks = "spacy-spanft.freeze_transformer.v1"\n'
        "    until_share = 0.1"
    )
    NO_MAX_STEPS = (
        "until_share is a share of [training] max_steps, which is {value!r}: nobody "
        "knows when training will end. Set max_steps, or use until_step or until_epoch."
    )
    NOTHING_TO_FREEZE = (
        "There is no transformer to freeze in this pipeline, which has: {components}. "
        "Put one into it, or take [training.before_update] out of the config. (Only "
        "the transformers of spacy-transformers and spacy-spanft are known.)"
    )
    FROZEN_FOR_GOOD = (
        "All transformers are in components that [training] frozen_components names "
        "({components}), so that none is ever trained. Take them out of "
        "frozen_components, or take [training.before_update] out of the config."
    )
    NO_LAYERS = (
        "The layers of {encoder} cannot be told apart, as they are not in a numbered "
        "list of modules. Leave {setting} out."
    )
    NO_UPSTREAM = (
        "A component listens to the encoder {name!r}, and none of that name is before "
        'it in the pipeline. Add one before it: nlp.add_pipe("spanft_encoder", '
        "before=...), or set upstream to the name of the one that is there."
    )
    NO_ENCODER_YET = (
        "The encoder has not been loaded yet. Call nlp.initialize() first, as `spacy "
        "train` does, or load a trained pipeline."
    )
    OTHER_BATCH = (
        "A component that listens to the encoder {name!r} was given other Docs to "
        "learn from than the encoder. Update both in one call of nlp.update."
    )
    UNBOUND = (
        "spacy-spanft.GroupedAdam.v1 does not know the parameter {name!r}, so it "
        "cannot tell its rate. Something must show it the pipeline: put this into the "
        "config,\n\n"
        "    [training.before_update]\n"
        '    @callbacks = "spacy-spanft.group_parameters.v1"\n\n'
        "or spacy-spanft.freeze_transformer.v1, or call "
        "spacy_spanft.training.regimes.bind(nlp) before the first update, in a "
        "callback or a training loop of your own."
    )
