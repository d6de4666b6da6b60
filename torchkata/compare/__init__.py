"""Comparison of answers with what is expected, and how values are shown."""
