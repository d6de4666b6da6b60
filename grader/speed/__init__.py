"""Performance, timed and judged in the grader's process; nothing here runs a student's code."""
