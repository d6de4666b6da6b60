"""Explanations of failures: known mistakes, patterns in the answers, and common exceptions."""
