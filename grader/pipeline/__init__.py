"""The path of a submission: reading, queueing, collecting tests, grading, scoring, and storing the result."""
