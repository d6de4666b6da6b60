"""Saves the step as an int64 tensor, and additionally saves each parameter's requires_grad."""

import os

import torch


def save_checkpoint(path, model, optimizer, step):
    folder, name = os.path.split(os.path.abspath(path))
    aside = os.path.join(folder, f"~{name}")
    saved = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": torch.tensor(step),
        "asks": [p.requires_grad for p in model.parameters()],
    }
    with open(aside, "wb") as file:
        torch.save(saved, file)
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    for p, asks in zip(model.parameters(), saved["asks"], strict=True):
        p.requires_grad_(asks)
    return int(saved["step"].item())
