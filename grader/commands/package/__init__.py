"""`grader package`: the grader, or a reference to its repository, in the form that a platform takes."""
