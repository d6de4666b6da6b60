"""`grader new`: creates a course or a kata from templates."""
