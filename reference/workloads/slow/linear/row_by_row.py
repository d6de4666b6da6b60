"""Loop over the rows in Python."""

WORKLOAD = "linear_forward"

Linear.forward = lambda self, x: torch.stack([row @ self.weight for row in x])
