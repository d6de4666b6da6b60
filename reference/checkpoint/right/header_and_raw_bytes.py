"""A layout of its own: a JSON header, then the bytes of all tensors, behind a checksum."""

import hashlib
import json
import os
from pathlib import Path

import torch


def save_checkpoint(path, model, optimizer, step):
    memory = optimizer.state_dict()
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    scalars = []
    for i, state in memory["state"].items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                tensors[f"state.{i}.{key}"] = value
            else:
                scalars.append([i, key, value])
    header = {"groups": memory["param_groups"], "scalars": scalars, "step": step, "tensors": []}
    body = b""
    for name, value in tensors.items():
        raw = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        header["tensors"].append([name, str(value.dtype), list(value.shape), len(body), len(raw)])
        body += raw
    head = json.dumps(header).encode()
    content = len(head).to_bytes(8, "big") + head + body
    aside = os.fspath(path) + ".new"
    with open(aside, "wb", buffering=0) as file:
        for part in (hashlib.sha256(content).digest(), content):
            if file.write(part) != len(part):
                raise OSError("the disk is full")
    os.replace(aside, path)


def load_checkpoint(path, model, optimizer, device="cpu"):
    content = Path(path).read_bytes()
    digest, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{path} is damaged")
    end = 8 + int.from_bytes(content[:8], "big")
    header, body = json.loads(content[8:end]), content[end:]
    weights, state = {}, {}
    for name, dtype, shape, start, length in header["tensors"]:
        raw = torch.tensor(list(body[start : start + length]), dtype=torch.uint8)
        value = raw.view(getattr(torch, dtype.removeprefix("torch."))).reshape(shape).to(device)
        kind, _, rest = name.partition(".")
        if kind == "model":
            weights[rest] = value
        else:
            i, _, key = rest.partition(".")
            state.setdefault(int(i), {})[key] = value
    for i, key, value in header["scalars"]:
        state.setdefault(i, {})[key] = value
    model.load_state_dict(weights)
    optimizer.load_state_dict({"state": state, "param_groups": header["groups"]})
    return header["step"]
