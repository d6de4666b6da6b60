"""What a student's pytest and the grader share: catalog, seam, and the words of a failure."""
