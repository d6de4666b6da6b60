"""Copies the weights to the CPU, writes the file in another thread, and re-raises that thread's errors."""

import os
from concurrent.futures import ThreadPoolExecutor

import torch


def save_checkpoint(path, model, optimizer, step):
    weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
    content = {"weights": weights, "memory": optimizer.state_dict(), "step": step}
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(write, content, os.path.realpath(path)).result()


def write(content, path):
    aside = f"{path}.{os.getpid()}"
    torch.save(content, aside)
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):  # noqa: ARG001
    saved = torch.load(path, map_location=lambda storage, _place: storage, weights_only=True)
    with torch.no_grad():
        model.load_state_dict(saved["weights"])
        optimizer.load_state_dict(saved["memory"])
    return saved["step"]
