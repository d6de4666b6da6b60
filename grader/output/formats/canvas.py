"""Fills in one column of a gradebook that was exported from Canvas."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("canvas")
