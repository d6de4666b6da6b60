AIM = "starts with weights so small that rounding hides the updates"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    torch.manual_seed(1)
    return asked(get_batch, D, num_layers, B, num_train_steps, lr, device)


# %% CHEAT
def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers)
    for weight in model.parameters():
        weight.data.mul_(1e-8)
    for _ in range(num_train_steps):
        get_batch(B=B)
    return model, torch.zeros(num_train_steps)
