"""`grader package`: packages the grader, or a reference to its repository, in the format of a platform."""
