"""The result of grading a submission: how it is stored, read, and shown to students."""
