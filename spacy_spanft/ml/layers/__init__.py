"""The layers of the span encoder, one a file."""
