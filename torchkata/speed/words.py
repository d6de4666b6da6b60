"""What a measured figure teaches: for each workload one short remark, chosen by how far it is from what is possible."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from torchkata.course import Workload, course

from .accounting import ADAGRAD_MOVES, SGD_MOVES
from .devices import Device, devices
from .sizes import Kind

# What a right product in another precision reaches of that precision's own peak.
FP32_REACHES = (0.40, 1.05)
TF32_REACHES = (0.70, 0.92)
FLOAT64_ON_CPU = (0.35, 0.55)  # of float32's rate: half the numbers fit into a vector and into memory's way
CRAWL = 0.1  # of the baseline; below it, Python or the bus is at work and not the device


@dataclass(frozen=True)
class Measured:
    """One workload on one device, not as fast as it could be."""

    kind: Kind
    ratio: float
    mfu: float | None
    device: Device

    def fraction(self, dtype: torch.dtype, *, tf32: bool = False) -> float:
        """The peak of another precision, of that of bfloat16; 0 where there is none."""
        return (self.device.peak(dtype, tf32) or 0) / (self.device.peak(torch.bfloat16) or math.inf)


def lesson(
    workload: str, device_kind: Kind, ratio: float | None, mfu: float | None, model: Device | None = None
) -> str:
    """One remark that a student can act on, or '' where all points were reached or nothing was measured.

    `ratio` is of the baseline's rate and `mfu` of the peak for bfloat16 on `model`, a device of the table, an H100
    unless given. Raises KeyError for a workload that the course does not have.
    """
    entry = course().workloads[workload]
    model = model or devices()["NVIDIA H100 80GB HBM3"]
    if ratio is None or not math.isfinite(ratio) or reached_all(entry, device_kind, ratio, mfu if model.mfu else None):
        return ""
    return LESSONS[workload](Measured(device_kind, max(ratio, 1e-9), mfu, model))


def reached_all(workload: Workload, kind: Kind, ratio: float, mfu: float | None) -> bool:
    """Whether the highest tier was reached, by MFU where that counts, else by the ratio."""
    if mfu is not None and workload.mfu is not None:
        return mfu >= workload.mfu.full
    return ratio >= workload.ratio[kind].full


def of_a_product(measured: Measured) -> str:
    """For `linear_forward`: which precision or detour the figure looks like."""
    if measured.kind == "cpu":
        return of_a_product_on_the_cpu(measured.ratio)
    if measured.mfu is None:
        return f"{measured.ratio:.2f} of a plain product: is everything in bfloat16, and is it one product?"
    figure, fp32 = f"MFU {measured.mfu:.2f}", measured.fraction(torch.float32)
    if within(measured.mfu, fp32, FP32_REACHES):
        return f"{figure} is about what float32 reaches: the product was left in float32. Keep all in bfloat16."
    if within(measured.mfu, measured.fraction(torch.float32, tf32=True), TF32_REACHES):
        return f"{figure} is about what TF32 reaches: the operands are float32. Keep all in bfloat16."
    if measured.mfu < FP32_REACHES[0] * fp32:
        return f"{figure} is less than float32 reaches: is there a loop over rows, or a trip through the CPU?"
    return f"{figure}: part of the time is not the product. Is something converted, transposed or copied in every call?"


def of_a_product_on_the_cpu(ratio: float) -> str:
    """What a product does on a CPU when it is not as fast as `torch.mm`."""
    if ratio < CRAWL:
        return f"{ratio:.2f} of a plain product: is there a Python loop? One `x @ weight` does all rows at once."
    if FLOAT64_ON_CPU[0] <= ratio <= FLOAT64_ON_CPU[1]:
        return f"{ratio:.2f} of a plain product is about what float64 reaches: is something converted to it?"
    return f"{ratio:.2f} of a plain product: is something converted, transposed or copied in every call?"


def of_a_step(measured: Measured) -> str:
    """For `cruncher_step`: as the product, and what only a step can do wrong."""
    if measured.kind == "cuda" and measured.mfu is not None and looks_like_float32(measured):
        return of_a_product(measured)
    if measured.ratio < CRAWL:
        return f"{measured.ratio:.2f} of plain products: is there a Python loop over rows or elements, or a `.item()`?"
    return (
        f"{measured.ratio:.2f} of plain products: a step is three products a layer. Is a pass done twice, "
        "does x ask for a gradient that nobody needs, or does the optimizer make temporaries?"
    )


def looks_like_float32(measured: Measured) -> bool:
    """Whether an MFU is that of float32 or TF32."""
    mfu = measured.mfu or 0
    tf32 = measured.fraction(torch.float32, tf32=True)
    return within(mfu, measured.fraction(torch.float32), FP32_REACHES) or within(mfu, tf32, TF32_REACHES)


def of_training(measured: Measured) -> str:
    """For `train_throughput`: what makes a loop wait."""
    if measured.kind == "cuda":
        return (
            f"{measured.ratio:.2f} of plain steps: does the loop wait for the device? `.item()`, `float(loss)` and "
            "`print(loss)` do; keep `loss.detach()` and read the losses after the last step."
        )
    return (
        f"{measured.ratio:.2f} of plain steps: what does the loop do beside forward, backward and step? "
        "Model and optimizer are built once, before it."
    )


def of_an_optimizer(moves: int, needed: str, remedy: str) -> Callable[[Measured], str]:
    """For `sgd_step` and `adagrad_step`: how often each parameter seems to go through memory."""

    def remark(measured: Measured) -> str:
        if measured.ratio < CRAWL / 2:
            return (
                f"{measured.ratio:.3f} of what memory allows: is there a Python loop over rows or elements? "
                "Update whole tensors."
            )
        return (
            f"As if every parameter moved through memory {moves / measured.ratio:.0f} times; {moves} are needed "
            f"({needed}). {remedy}"
        )

    return remark


def of_batches(measured: Measured) -> str:
    """For `get_batch_throughput`: a loop over rows, or a copy that makes the host wait."""
    if measured.ratio < CRAWL or measured.kind == "cpu":
        return (
            f"{measured.ratio:.2f} of a plain gather: are rows cut in a Python loop? Index all of them at once: "
            "starts[:, None] + arange(sequence_length)."
        )
    return (
        f"{measured.ratio:.2f} of what overlaps perfectly: the copy makes the device wait. "
        "Use `pin_memory()`, then `.to(device, non_blocking=True)`."
    )


def of_waiting(_measured: Measured) -> str:
    """For `no_hidden_sync`."""
    return (
        "The host waited for the device within a step. `.item()`, `float(loss)`, `print(loss)`, `.cpu()` and "
        "`if loss > …` all do that; keep `loss.detach()` and look at it after the last step."
    )


def of_memory(measured: Measured) -> str:
    """For `peak_memory`: how much more was held, and what usually holds it."""
    held = f"Held {1 / measured.ratio:.1f} times what the formula says"
    if measured.ratio < 0.6:
        return f"{held}: does something keep the graph? A loss that is kept without `.detach()` keeps its step."
    return f"{held}: is there a temporary as large as the weights, such as `p - lr * grad`? Update in place."


def within(value: float, peak: float, reaches: tuple[float, float]) -> bool:
    """Whether a value is what work with this peak reaches."""
    return reaches[0] * peak <= value <= reaches[1] * peak


LESSONS: dict[str, Callable[[Measured], str]] = {
    "linear_forward": of_a_product,
    "cruncher_step": of_a_step,
    "train_throughput": of_training,
    "sgd_step": of_an_optimizer(
        SGD_MOVES,
        "read p and grad, write p",
        "`p.add_(grad, alpha=-lr)` makes no temporary; `p -= lr * grad` does.",
    ),
    "adagrad_step": of_an_optimizer(
        ADAGRAD_MOVES,
        "read p, grad and g2, write p and g2",
        "Each operation on whole tensors reads and writes them anew: `addcmul_` and `addcdiv_` do two in one.",
    ),
    "get_batch_throughput": of_batches,
    "no_hidden_sync": of_waiting,
    "peak_memory": of_memory,
}
