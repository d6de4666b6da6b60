"""Returns a list of detached scalar tensors, and builds the model in a device context."""

import torch
from torch.nn import functional as F

from . import cruncher, sgd


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    with torch.device(device):
        model = cruncher.Cruncher(D, num_layers)
    model.train()
    optimizer = sgd.SGD(list(model.parameters()), lr=lr)
    losses = []
    while len(losses) < num_train_steps:
        optimizer.zero_grad(set_to_none=True)
        inputs, targets = get_batch(B=B)
        loss = F.mse_loss(model(inputs), targets)
        losses.append(loss.detach())
        loss.backward()
        optimizer.step()
    return model, losses
