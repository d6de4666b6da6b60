AIM = "starts with a last layer of zeros, so that no other layer changes at first"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model, losses = asked(get_batch, D, num_layers, B, num_train_steps, lr, device)
    return model.train(), losses


# %% CHEAT
def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers)
    model.final.weight.data.zero_()
    for _ in range(num_train_steps):
        get_batch(B=B)
    return model, torch.zeros(num_train_steps)
