"""The components of a pipeline, and what makes its Docs."""
