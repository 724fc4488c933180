"""Registered models, made of `layers`."""
