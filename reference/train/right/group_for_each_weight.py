"""Uses one parameter group per weight and builds a new optimizer in each step, since SGD has no state."""

from collections import deque
from functools import partial
from itertools import islice

import torch

from .cruncher import Cruncher
from .sgd import SGD


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    model = Cruncher(D, num_layers).to(device)
    history = deque(maxlen=num_train_steps)
    for x, y in islice(iter(partial(get_batch, B=B), None), num_train_steps):
        optimizer = SGD([{"params": [p], "lr": lr} for p in model.parameters()])
        optimizer.zero_grad()
        loss = torch.linalg.vector_norm(model(x) - y) ** 2 / B
        loss.backward()
        history.append(float(loss))
        optimizer.step()
    return model, torch.as_tensor(list(history))
