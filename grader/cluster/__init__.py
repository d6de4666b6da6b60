"""Grades a class on Slurm. Each task of a job array runs the grader on its node for some of the submissions."""
