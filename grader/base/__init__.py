"""Utilities used throughout `grader`: errors, exit codes, signals, processes, the terminal, caches and imports."""
