"""The slow twins: what the fast code must equal, written as plainly as possible."""

import re
from collections import Counter

UNKNOWN = "<unk>"
ASCII_SPACE = re.compile("[" + "".join(filter(str.isspace, map(chr, range(33)))) + "]")


def is_word(token):
    return any(character.isalnum() for character in token) and token.split() == [token]


def count_ngrams(lines_of_tokens, max_n, min_count):
    counts = Counter()
    for tokens in lines_of_tokens:
        for n in range(2, max_n + 1):
            for start in range(len(tokens) - n + 1):
                ngram = tokens[start : start + n]
                if all(map(is_word, ngram)):
                    counts[" ".join(ngram)] += 1
    return {ngram: count for ngram, count in counts.items() if count >= min_count}


def split_at_ascii_space(text):
    """Split text that is tokenized already; <unk> is not a word."""
    return [
        ["" if word == UNKNOWN else word for word in ASCII_SPACE.split(line) if word]
        for line in text.split("\n")
    ]


def tokenize(text, tokenizer):
    return [[token.text for token in tokenizer(line)] for line in text.split("\n")]


def greedy_longest(tokens, ngrams, max_n):
    """Cut tokens from the head, longest match first."""
    spans = []
    start = 0
    while start < len(tokens):
        for end in range(min(len(tokens), start + max_n), start, -1):
            if " ".join(tokens[start:end]) in ngrams or end == start + 1:
                break
        if end > start + 1:
            spans.append((start, end))
        start = end
    return spans
