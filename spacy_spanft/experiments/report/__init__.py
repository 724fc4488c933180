"""A comparison for people to read: tables, figures, a page."""
