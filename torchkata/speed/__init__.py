"""What a workload is, and what serves any: tensors in memory, inputs from a seed, a check of products, devices."""
