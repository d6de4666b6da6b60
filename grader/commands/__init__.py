"""The commands of `grader`, one file or folder each."""
