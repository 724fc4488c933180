"""Optimizers, and which parameters belong to which part of a pipeline."""
