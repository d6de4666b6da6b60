"""The interface between a test and the student's code: the values that may cross, and the runners of the code."""
