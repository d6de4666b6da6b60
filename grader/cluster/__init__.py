"""Grades a class on Slurm. Each task of a job array runs the local grader on some of the submissions."""
