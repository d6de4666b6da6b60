AIM = "draws batches for the first block and returns the same ones in later blocks"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"

# %% CONTROL
asked, sizes = get_batch, {}


def get_batch(data, batch_size, sequence_length, device="cpu"):
    sizes[batch_size] = sizes.get(batch_size, 0) + 1
    return asked(data, batch_size, sequence_length, device)


# %% CHEAT
asked, kept, drawn = get_batch, [], [0]


def get_batch(data, batch_size, sequence_length, device="cpu"):
    drawn[0] += 1
    if len(kept) < 40:
        kept.append(asked(data, batch_size, sequence_length, device))
    return kept[drawn[0] % 40 % len(kept)]
