"""Probes: functions that run in the process of the student's code, and return plain values."""
