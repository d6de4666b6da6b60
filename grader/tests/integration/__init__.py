"""Integration tests, which run real commands, sandboxes, Slurm and a browser."""
