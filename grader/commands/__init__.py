"""The implementations of the `grader` commands, in one module or package each."""
