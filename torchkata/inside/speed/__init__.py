"""Base classes for workloads, and what they need to lay out memory, draw inputs and check results."""
