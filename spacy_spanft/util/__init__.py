"""What all rooms stand on: files, processes, GPUs, and what is private to others."""
