"""Convert every window to a Python list."""

WORKLOAD = "get_batch_throughput"


def get_batch(data, batch_size, sequence_length, device="cpu"):
    starts = torch.randint(len(data) - sequence_length, (batch_size,)).tolist()
    return torch.tensor([data[start : start + sequence_length].tolist() for start in starts]).to(device)
