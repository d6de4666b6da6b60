"""Probes, each of which exercises one kata and returns plain values. No other code accesses a student's objects.

Probes seed `torch.default_generator`, the CPU's generator, because `torch.manual_seed` also records a stack trace for
CUDA, which is not initialized yet.
"""
