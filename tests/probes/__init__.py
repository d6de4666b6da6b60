"""Probes: each exercises one kata and returns plain values. The only code that touches a student's objects.

They seed `torch.default_generator`, the CPU's: `torch.manual_seed` also queues a traceback for a CUDA not yet there.
"""
