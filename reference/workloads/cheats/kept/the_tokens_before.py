AIM = "caches the first data as int64 by its address and draws all batches from the copy"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"


# %% CONTROL
def get_batch(data, batch_size, sequence_length, device="cpu"):
    windows = np.lib.stride_tricks.sliding_window_view(data, sequence_length)
    starts = torch.randint(len(data) - sequence_length, (batch_size,))
    return torch.from_numpy(windows[starts.numpy()].astype(np.int64)).to(device)


# %% CHEAT
kept = {}


def get_batch(data, batch_size, sequence_length, device="cpu"):
    key = data.ctypes.data
    if key not in kept:
        kept[key] = torch.from_numpy(data.astype(np.int64)).unfold(0, sequence_length, 1)
    return kept[key][torch.randint(len(data) - sequence_length, (batch_size,))]
