"""Differences between arms: intervals, p-values and orders."""
