"""Tests of parts together: commands as they are typed, real sandboxes, a Slurm, a browser."""
