"""Memory-maps the file, and first loads it into copies of the model and the optimizer."""

import copy
import os

import torch


def save_checkpoint(path, model, optimizer, step):
    aside = f"{os.fspath(path)}.step{step}"
    weights, memory = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
    torch.save({"model": weights, "optimizer": memory, "step": step}, aside)
    os.rename(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    saved = torch.load(os.fspath(path), map_location=device, weights_only=True, mmap=True)
    copy.deepcopy(model).load_state_dict(saved["model"])
    copy.deepcopy(optimizer).load_state_dict(saved["optimizer"])
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
    return saved["step"]
