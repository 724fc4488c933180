"""Measurements against the peers, each in one run: `python -m benchmarks.NAME`."""
