"""The path from a submission to its result: reading, queueing, collecting the tests, grading, scoring, storing."""
