"""Compute each step's gradients three times."""

WORKLOAD = "train_throughput"


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    optimizer = SGD(model.parameters(), lr=lr)
    losses = torch.empty(num_train_steps, device=device)
    for step in range(num_train_steps):
        x, y = get_batch(B=B)
        for _ in range(3):
            loss = (model(x) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
        optimizer.step()
        losses[step] = loss.detach()
    return model, losses
