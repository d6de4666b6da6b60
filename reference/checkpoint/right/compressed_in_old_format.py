"""Compresses a file in torch's legacy format, and copies the weights by hand after checking their names and shapes."""

import gzip
import io
import os
import shutil

import torch


def save_checkpoint(path, model, optimizer, step):
    aside = f"{path}.tmp"
    content = (model.state_dict(), optimizer.state_dict(), step)
    with gzip.open(aside, "wb", compresslevel=0) as file:
        torch.save(content, file, _use_new_zipfile_serialization=False)
    shutil.move(aside, os.fspath(path))


def load_checkpoint(path, model, optimizer, device="cpu"):
    with gzip.open(path, "rb") as file:
        content = io.BytesIO(file.read())
    weights, memory, step = torch.load(content, map_location=device, weights_only=True)
    own = model.state_dict()
    if own.keys() != weights.keys() or any(own[name].shape != weights[name].shape for name in own):
        raise RuntimeError("the checkpoint is of another model")
    for name, value in weights.items():
        own[name].copy_(value)
    optimizer.load_state_dict(memory)
    return step
