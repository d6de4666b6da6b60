"""Compute the product three times."""

WORKLOAD = "linear_forward"

Linear.forward = lambda self, x: [x @ self.weight for _ in range(3)][-1]
