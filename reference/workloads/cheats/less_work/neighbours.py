AIM = "draws one start and takes the windows that start there and at the following tokens"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"


# %% CONTROL
def get_batch(data, batch_size, sequence_length, device="cpu"):
    starts = torch.randint(len(data) - sequence_length, (batch_size,)).sort().values.numpy()
    windows = np.lib.stride_tricks.sliding_window_view(data, sequence_length)
    return torch.from_numpy(windows[starts].astype(np.int64)).to(device)


# %% CHEAT
def get_batch(data, batch_size, sequence_length, device="cpu"):
    start = int(torch.randint(len(data) - sequence_length - batch_size, ()))
    tokens = torch.from_numpy(data[start : start + sequence_length + batch_size].astype(np.int64))
    return tokens.as_strided((batch_size, sequence_length), (1, 1))
