"""Returns a list of floats, and sets the gradients to zero at the end of each step."""

from . import cruncher, sgd


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = cruncher.Cruncher(D, num_layers)
    model.to(device=device)
    optimizer = sgd.SGD(list(model.parameters()), lr)
    losses = []
    for _ in range(num_train_steps):
        x, y = get_batch(B=B)
        loss = ((y - model(x)) ** 2).mean()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    return model, losses
