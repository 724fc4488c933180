"""Where text comes from: files, iterables and datasets, as blocks of lines."""
