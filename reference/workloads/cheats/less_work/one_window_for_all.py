AIM = "draws one window and repeats it"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"


# %% CONTROL
def get_batch(data, batch_size, sequence_length, device="cpu"):
    starts = torch.randint(len(data) - sequence_length, (batch_size, 1)).numpy()
    return torch.from_numpy(data[starts + np.arange(sequence_length)].astype(np.int64)).to(device)


# %% CHEAT
def get_batch(data, batch_size, sequence_length, device="cpu"):
    start = int(torch.randint(len(data) - sequence_length, ()))
    return torch.from_numpy(data[start : start + sequence_length].astype(np.int64)).expand(batch_size, -1)
