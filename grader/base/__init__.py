"""Helpers for all of `grader`: errors, exit codes, signals, processes, the terminal, caches, and a file's imports."""
