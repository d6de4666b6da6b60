"""Fills in one column of any CSV table that has a row for each student."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("csv")
