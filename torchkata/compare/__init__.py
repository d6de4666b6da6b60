"""Comparison of answers with expected values, and formatting of values."""
