"""The steps from a submission to a stored result: reading, queueing, collecting tests, grading and scoring."""
