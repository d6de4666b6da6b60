"""Quantization in blocks that share a scale."""

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

FP4 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
LARGEST = {4: 6.0, 8: 448.0}


def quantize(x: Float[Tensor, "... n"], block: int, bits: int) -> tuple[Tensor, Float[Tensor, "... blocks"]]:
    """Divide each block by its scale, and round."""
    blocks = rearrange(x, "... (blocks block) -> ... blocks block", block=block)
    scales = blocks.abs().amax(-1) / LARGEST[bits]
    ratios = blocks / scales.where(scales > 0, 1.0)[..., None]
    values = round_to_fp4(ratios) if bits == 4 else ratios.to(torch.float8_e4m3fn)
    return values.reshape(x.shape), scales


def round_to_fp4(ratios: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Choose the nearest magnitude, and keep the sign."""
    nearest = (ratios.abs()[..., None] - FP4).abs().argmin(-1)
    return FP4[nearest].copysign(ratios)


def dequantize(values: Float[Tensor, "... n"], scales: Float[Tensor, "... blocks"]) -> Float[Tensor, "... n"]:
    """Multiply each block by its scale."""
    blocks = rearrange(values.float(), "... (blocks block) -> ... blocks block", blocks=scales.shape[-1])
    return (blocks * scales[..., None]).reshape(values.shape)


def scaled_matmul(x: Float[Tensor, "... k"], w: Float[Tensor, "k n"], block: int, bits: int) -> Float[Tensor, "... n"]:
    """Multiply what is left of both after quantization."""
    return dequantize(*quantize(x, block, bits)) @ dequantize(*quantize(w.T, block, bits)).T


def quantized_bytes(numel: int, block: int, bits: int, scale_bytes: int = 1) -> int:
    """Add the bytes of the elements and of the scales."""
    return numel * bits // 8 + numel // block * scale_bytes
