"""What everything else stands on: errors and exit codes, signals, processes, the terminal, caches, our own imports."""
