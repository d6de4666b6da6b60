"""Compares answers with expected values, and formats values for messages."""
