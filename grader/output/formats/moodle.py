"""Fills in one column of the grading worksheet of a Moodle assignment."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("moodle")
