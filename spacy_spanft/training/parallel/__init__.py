"""spaCy's training in several processes, each with its share of every batch."""
