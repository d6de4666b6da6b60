"""The pytest plugin of a course: options, test runs, diagnosis, and the report for the student."""
