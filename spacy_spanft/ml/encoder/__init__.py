"""Encoders of Hugging Face: Docs to wordpieces, and these to vectors."""
