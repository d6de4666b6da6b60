"""Explains failures with known mistakes, patterns in the answers, and common exceptions."""
