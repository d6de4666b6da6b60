"""Keeps the text in a list of ints, and uses inference mode."""

import torch
from torch import nn


@torch.inference_mode()
def generate(model, prompt, n, temperature, generator=None):
    text = prompt.tolist()
    for _ in range(n):
        window = torch.tensor([text[-model.context :]], device=prompt.device)
        scores = model(window)[0, -1]
        if temperature:
            shares = nn.functional.softmax(scores / temperature, dim=0)
            text.append(int(torch.multinomial(shares, 1, generator=generator)))
        else:
            text.append(int(scores.argmax()))
    return torch.tensor(text, device=prompt.device)
