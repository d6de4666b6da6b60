"""The interface between a test and the student's code: which values may cross, and what runs the code."""
