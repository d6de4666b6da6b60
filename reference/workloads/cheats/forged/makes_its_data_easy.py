AIM = "overwrites all data with one token and draws batches from that"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"

# %% CONTROL
asked = get_batch


def get_batch(data, batch_size, sequence_length, device="cpu"):
    assert data.dtype == np.uint16
    return asked(data, batch_size, sequence_length, device)


# %% CHEAT
def get_batch(data, batch_size, sequence_length, device="cpu"):
    data[:] = 7
    return torch.full((1, 1), 7).expand(batch_size, sequence_length)
