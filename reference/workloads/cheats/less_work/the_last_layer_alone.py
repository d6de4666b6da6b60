AIM = "trains only the last layer"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model, losses = asked(get_batch, D, num_layers, B, num_train_steps, lr, device)
    model.requires_grad_(True)
    return model, losses


# %% CHEAT
def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers)
    model.layers.requires_grad_(False)
    optimizer = SGD([model.final.weight], lr=lr)
    losses = torch.empty(num_train_steps)
    for _ in range(num_train_steps):
        x, y = get_batch(B=B)
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, losses
