"""The result of grading a submission: how it is stored, loaded, and shown to students."""
