"""What a student's pytest and the grader share: the catalog, the seam to the student's code, and the words of a failure."""
