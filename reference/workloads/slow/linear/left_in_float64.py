"""Compute in float64 and round at the end."""

WORKLOAD = "linear_forward"

Linear.forward = lambda self, x: (x.double() @ self.weight.double()).to(x.dtype)
