"""Speed, graded with the grader's own clock: a student's process gets work, the verdict is made here."""
