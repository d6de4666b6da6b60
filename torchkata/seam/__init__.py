"""The interface between a test and the student's code: plain values, and the runners that execute the code."""
