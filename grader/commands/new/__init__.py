"""`grader new`: create a course or a kata from templates."""
