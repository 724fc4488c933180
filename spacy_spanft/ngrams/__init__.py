"""N-gram dictionaries: looking up, cutting, ranking, keeping them on disk."""
