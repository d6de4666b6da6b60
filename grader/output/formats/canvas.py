"""Export into a gradebook from Canvas."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("canvas")
