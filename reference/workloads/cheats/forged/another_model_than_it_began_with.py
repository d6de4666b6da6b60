AIM = "reports other initial weights than those from which it trains"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model, losses = asked(get_batch, D, num_layers, B, num_train_steps, lr, device)
    copy = Cruncher(D, num_layers)
    copy.load_state_dict(model.state_dict())
    return copy, losses


# %% CHEAT
asked, weights = train, []


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    if not weights:
        weights.append(Cruncher(D, num_layers))
        return weights[0], torch.zeros(0)
    for _ in range(num_train_steps):
        get_batch(B=B)
    return weights[0], torch.zeros(num_train_steps)
