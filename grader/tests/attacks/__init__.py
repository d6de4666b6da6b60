"""Attacks on the grader, one file each, in a folder for each family. The files are read and never imported."""
