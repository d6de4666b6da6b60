"""Loops over rows and blocks in plain Python, with a table of all values, and adds up the products of each block."""

import torch
from torch import Tensor

TABLES = {
    4: [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
    8: torch.arange(127, dtype=torch.uint8).view(torch.float8_e4m3fn).float().tolist(),
}


def quantize(x: Tensor, block: int, bits: int) -> tuple[Tensor, Tensor]:
    values, scales = torch.empty_like(x), torch.empty(*x.shape[:-1], x.shape[-1] // block)
    for row, out, row_scales in zip(*(t.reshape(-1, t.shape[-1]) for t in (x, values, scales)), strict=True):
        for i, numbers in enumerate(row.split(block)):
            most = max(abs(number) for number in numbers.tolist())
            row_scales[i] = most / TABLES[bits][-1] if most else 1.0
            for j, number in enumerate(numbers.tolist(), start=i * block):
                ratio = number / float(row_scales[i])
                nearest = min(reversed(TABLES[bits]), key=lambda value: abs(value - abs(ratio)))
                out[j] = nearest if ratio > 0 else -nearest
    return (values.to(torch.float8_e4m3fn) if bits == 8 else values), scales


def dequantize(values: Tensor, scales: Tensor) -> Tensor:
    block = values.shape[-1] // scales.shape[-1]
    parts = [
        values[..., i : i + block].float() * scales[..., i // block, None] for i in range(0, values.shape[-1], block)
    ]
    return torch.cat(parts, dim=-1)


def scaled_matmul(x: Tensor, w: Tensor, block: int, bits: int) -> Tensor:
    (x_values, x_scales), (w_values, w_scales) = quantize(x, block, bits), quantize(w.T, block, bits)
    total = torch.zeros(*x.shape[:-1], w.shape[1])
    for i in range(x_scales.shape[-1]):
        part = slice(i * block, (i + 1) * block)
        total += (x_values[..., part].float() @ w_values[:, part].float().T) * x_scales[..., i, None] * w_scales[:, i]
    return total


def quantized_bytes(numel: int, block: int, bits: int, scale_bytes: int = 1) -> int:
    return (numel * bits + numel // block * scale_bytes * 8) // 8
