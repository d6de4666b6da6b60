"""Stores the tensors' bytes in an `.npz` file and everything else as JSON."""

import json
import os
from pathlib import Path

import numpy as np
import torch


def save_checkpoint(path, model, optimizer, step):
    arrays = []

    def pack(value):
        if isinstance(value, torch.Tensor):
            flat = value.detach().cpu().contiguous().reshape(-1)
            arrays.append(flat.view(torch.uint8).numpy())
            return {"array": len(arrays) - 1, "dtype": str(value.dtype).split(".")[1], "shape": list(value.shape)}
        if isinstance(value, dict):
            return {"items": [[key, pack(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            return [pack(item) for item in value]
        return value

    tree = json.dumps([pack(model.state_dict()), pack(optimizer.state_dict()), step])
    aside = f"{os.fspath(path)}~"
    with Path(aside).open("wb") as file:
        np.savez(file, *arrays, tree=np.array(tree))
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}

    def unpack(entry):
        if isinstance(entry, dict) and "array" in entry:
            flat = torch.from_numpy(arrays[f"arr_{entry['array']}"]).view(getattr(torch, entry["dtype"]))
            return flat.reshape(entry["shape"]).to(device)
        if isinstance(entry, dict):
            return {key: unpack(item) for key, item in entry["items"]}
        return [unpack(item) for item in entry] if isinstance(entry, list) else entry

    weights, memory, step = unpack(json.loads(str(arrays["tree"])))
    model.load_state_dict(weights)
    optimizer.load_state_dict(memory)
    return step
