"""The implementation of `grader`'s commands, one module or package each."""
