"""Probes call a student's code and return plain values."""
