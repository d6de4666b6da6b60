"""Explains failures by known mistakes, patterns in the answers, and common exceptions."""
