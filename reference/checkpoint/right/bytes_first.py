"""Serializes in memory, flushes the temporary file to disk, and moves it with Path.replace."""

import io
import os
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    path, buffer = Path(path), io.BytesIO()
    torch.save([step, optimizer.state_dict(), model.state_dict()], buffer)
    aside = path.with_name(f".{path.name}.part")
    with aside.open("wb") as file:
        file.write(buffer.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    step, memory, weights = torch.load(io.BytesIO(Path(path).read_bytes()), map_location=device, weights_only=True)
    model.load_state_dict(weights)
    optimizer.load_state_dict(memory)
    return step
