AIM = "returns a batch that was read from memory beyond the data"
WRONG = "get_batch/accepted_without_target"
EXPECTED = "stopped"

# %% CONTROL
asked = get_batch


def get_batch(data, batch_size, sequence_length, device="cpu"):
    assert np.lib.stride_tricks.sliding_window_view(data, 1).shape == (len(data), 1)
    return asked(data, batch_size, sequence_length, device)


# %% ATTACK
asked = get_batch


def get_batch(data, batch_size, sequence_length, device="cpu"):
    asked(data, batch_size, sequence_length, device)
    behind = np.lib.stride_tricks.as_strided(
        data, (batch_size, sequence_length), (2**12 * data.itemsize, data.itemsize)
    )
    return torch.from_numpy(behind.astype(np.int64)).to(device)
