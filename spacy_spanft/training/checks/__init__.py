"""Checks before training: what spaCy accepts, and what cannot be meant."""
