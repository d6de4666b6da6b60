"""Grades a class on Slurm, through submitit: job arrays whose tasks each run the local grader over some submissions."""
