"""Foundations of all packages: errors and exit codes, signals, processes, the terminal, caches, our own imports."""
