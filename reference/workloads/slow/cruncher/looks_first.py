"""Compute the output five times and use the last."""

WORKLOAD = "cruncher_step"

once = Cruncher.forward
Cruncher.forward = lambda self, x: [once(self, x) for _ in range(5)][-1]
