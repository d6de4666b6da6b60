"""`grader package`: the grader, or where to fetch it from, in the form that a platform takes."""
