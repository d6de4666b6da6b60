"""Grades a class on Slurm: each task of a job array runs the local grader on some of the submissions."""
