"""The grading worksheet that Moodle exports for an assignment."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("moodle")
