"""The pytest plugin of a course: options, runs, diagnosis and the report that a student reads."""
