"""Probes: each exercises one kata and returns plain values. The only code that touches a student's objects."""
