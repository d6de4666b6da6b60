"""Trusted grading: pytest, inputs, oracle and verdict live here; a student's code never does."""
