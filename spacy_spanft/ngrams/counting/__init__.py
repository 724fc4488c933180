"""From blocks of text to exact n-gram counts: chunks, tokens, ranks, levels."""
