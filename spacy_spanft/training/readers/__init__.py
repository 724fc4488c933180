"""Corpora for `[corpora]`: from the rows of a table or a dataset to Examples."""
