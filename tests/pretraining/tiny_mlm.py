"""More tiny models and texts, for masked language modeling."""

import numpy as np

TEXT_WORDS = (
    *("the", "a", "in", "of", "is", "it", "new", "york", "city", "united", "states"),
    *("airlines", "holding", "not", "very", "good", "bad", "film", "this", "that"),
    *("was", "unbelievable", "playing", "walks", "cinema", "planes"),
)


def write_text(path, n_lines=40, n_words=30, seed=0):
    """Write random words, a line a text."""
    random = np.random.default_rng(seed)
    lines = [" ".join(random.choice(TEXT_WORDS, n_words)) for _ in range(n_lines)]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def albert_tokenizer(**settings):
    """Make a tokenizer as ALBERT has it: Unigram over words with their space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from tokenizers.trainers import UnigramTrainer
    from transformers import AlbertTokenizerFast

    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = UnigramTrainer(
        vocab_size=80, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(TEXT_WORDS) + ", city, york,"] * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return AlbertTokenizerFast(tokenizer_object=tokenizer, **settings)
