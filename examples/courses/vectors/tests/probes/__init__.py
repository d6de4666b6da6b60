"""Probes: each exercises one kata and returns plain values. The only code that touches what a student returns."""
