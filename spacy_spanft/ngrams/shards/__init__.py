"""Exact counts of text in shards: in one process, in several, on a cluster.

Every step is a function of a folder and a number, whose result is one file there. What
is done is seen by the files, so a step may run anywhere that sees the folder, and again
after it was cut short.
"""
