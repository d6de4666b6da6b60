"""The gradebook that Canvas exports."""

from grader.output.lms import gradebook_exporter

EXPORTER = gradebook_exporter("canvas")
