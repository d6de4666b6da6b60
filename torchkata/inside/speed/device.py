"""What a datasheet says about a device model. The table of devices is not needed beside student code."""

from dataclasses import dataclass, field

import torch

NAMES = {
    torch.bfloat16: "bf16",
    torch.float16: "fp16",
    torch.float32: "fp32",
    torch.float8_e4m3fn: "fp8",
    torch.float8_e5m2: "fp8",
}
"""The name of each dtype in `devices.toml`."""


@dataclass(frozen=True)
class Device:
    """A device model. Values are for the whole device and for dense matrices, in the units of the table."""

    name: str  # as reported by torch.cuda.get_device_name()
    tflops: dict[str, float]  # peak throughput in 1e12 FLOP/s: bf16, fp16, tf32, fp32, fp8; PEAK_SOURCE
    gb_s: float  # memory bandwidth in 1e9 B/s; PEAK_SOURCE
    achieved: dict[str, float] = field(default_factory=dict)  # fastest measured matmul in 1e12 FLOP/s; ACHIEVED_SOURCE
    mfu: bool = False  # whether the MFU thresholds of the workloads apply to this device

    def peak(self, dtype: torch.dtype, tf32: bool = False) -> float | None:
        """Return the datasheet's peak FLOP/s of matmuls in this dtype, or None if the datasheet has no value.

        If `tf32` is True, the peak for float32 is that of matmuls whose operands are rounded to TF32.
        """
        name = "tf32" if tf32 and dtype == torch.float32 else NAMES.get(dtype, "")
        return self.tflops[name] * 1e12 if name in self.tflops else None

    @property
    def bandwidth(self) -> float:
        """The memory bandwidth from the datasheet, in B/s."""
        return self.gb_s * 1e9
