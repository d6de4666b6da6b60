"""The seam: what crosses between a test and a student's code, and what runs that code."""
