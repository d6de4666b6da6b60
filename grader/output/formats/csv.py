"""Export into any CSV table with a row for each student."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("csv")
