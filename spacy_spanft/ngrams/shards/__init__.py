"""Exact counts in bounded memory: text in shards on disk, on threads or a cluster."""
