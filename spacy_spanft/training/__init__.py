"""What a training reads, checks and calls back."""
