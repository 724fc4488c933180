"""Metrics of pipelines, as rows for each Doc and scores of rows."""
