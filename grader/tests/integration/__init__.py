"""Tests of several modules together, with real commands, sandboxes, Slurm and a browser."""
