"""What grading a submission comes to: how it is stored, read, and seen by students."""
