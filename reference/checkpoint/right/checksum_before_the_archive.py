"""Writes a checksum in front of torch's archive."""

import io
import os
import zlib
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, buffer)
    archive = buffer.getvalue()
    aside = f"{path}.tmp"
    Path(aside).write_bytes(zlib.crc32(archive).to_bytes(4, "big") + archive)
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    content = Path(path).read_bytes()
    if len(content) < 5 or zlib.crc32(content[4:]).to_bytes(4, "big") != content[:4]:
        raise ValueError(f"{path} is damaged")
    saved = torch.load(io.BytesIO(content[4:]), map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["step"]
