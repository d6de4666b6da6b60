"""Identifies the submissions of a class and turns points into marks."""
