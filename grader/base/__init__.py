"""What everything else stands on: errors and exit codes, signals, the terminal, caches, imports of our own files."""
