"""Tests of several modules together, with real commands, sandboxes, a Slurm and a browser."""
