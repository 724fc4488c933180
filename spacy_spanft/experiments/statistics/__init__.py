"""What other texts, and other seeds, would say."""
