"""The interface between a test and the student's code: what values may cross, and what runs the code."""
