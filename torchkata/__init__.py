"""What a student's pytest and the grader share: course, seam, and the words of a failure."""
