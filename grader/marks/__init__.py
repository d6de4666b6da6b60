"""Identifies the submissions of a class and computes marks from points."""
