"""Provides what all packages use: errors, exit codes, signals, processes, the terminal, caches and our own imports."""
