"""N-gram dictionaries: counting them, ranking them, keeping them on disk."""
