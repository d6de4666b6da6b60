AIM = "uses the same starts for every batch"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"


# %% CONTROL
def get_batch(data, batch_size, sequence_length, device="cpu"):
    windows = torch.from_numpy(data.view(np.int16)).unfold(0, sequence_length, 1)
    starts = torch.randint(len(data) - sequence_length, (batch_size,))
    return (windows[starts].long() & 0xFFFF).to(device)


# %% CHEAT
def get_batch(data, batch_size, sequence_length, device="cpu"):
    windows = np.lib.stride_tricks.sliding_window_view(data, sequence_length)
    return torch.from_numpy(windows[: batch_size * 1000 : 1000].astype(np.int64))
