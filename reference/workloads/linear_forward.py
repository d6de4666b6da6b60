"""Times the forward pass of a linear layer: one large matmul per call."""

from typing import Any

import torch

from torchkata import Text, speed

# Fraction of the peak of its own precision that a correct product in another precision reaches.
FP32_REACHES = (0.40, 1.05)
TF32_REACHES = (0.70, 0.92)
FLOAT64_ON_CPU = (0.35, 0.55)  # fraction of the float32 rate, since numbers are twice as wide


class ProductCheck(speed.Check):
    """Checks `y = x @ weight`.

    x: [calls, B, D]   weight: [D, K]   y: [calls, B, K]
    """

    def __init__(self, memory: speed.Memory, results: speed.Memory, size: speed.Size) -> None:
        super().__init__(memory, results, size)
        self.inputs = speed.SeededInputs(memory["x"].device)
        self.floor = speed.floor(memory["x"].dtype, size.width)

    def prepare(self) -> None:
        """Draw the weight."""
        self.weight = self.inputs.fill(torch.empty_like(self.memory["weight"]))
        self.memory["weight"].copy_(self.weight)

    def refresh(self) -> None:
        """Draw a new x for each call."""
        self.inputs.draw_new()
        for x in self.memory["x"]:
            self.inputs.fill(x)
        self.memory["y"].fill_(torch.nan)

    def error(self) -> float:
        """Return the largest error over all calls."""
        self.inputs.rewind()
        x = torch.empty_like(self.memory["x"][0])
        return max(speed.relative_error(self.inputs.fill(x), self.weight, y) for y in self.results["y"])


class LinearForward(speed.Rate):
    """Linear is as fast as a single large matmul."""

    sizes = speed.PRODUCT
    unit = "FLOP"
    check = ProductCheck

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Return one weight for all calls, and x and y for each call."""
        B, D, K, dtype = size.batch, size.width, size.outputs, speed.dtype_of(size)
        return {
            "weight": speed.Field((D, K), dtype, "given"),
            "x": speed.Field((calls, B, D), dtype, "given"),
            "y": speed.Field((calls, B, K), dtype, "filled"),
        }

    def amount(self, size: speed.Size) -> float:
        """Return the FLOPs of a product."""
        return speed.product_flops(size.batch, size.width, size.outputs)

    def check_bytes(self, size: speed.Size, calls: int) -> int:  # noqa: ARG002
        """Return the bytes of a second weight, of an x, and of the check of a product."""
        fields = self.fields(size, 1)
        return fields["weight"].bytes + fields["x"].bytes + speed.CHECK_BYTES

    def working_bytes(self, size: speed.Size, calls: int) -> int:  # noqa: ARG002
        """Return the bytes of the layer's weight and of a copy of everything that a call uses."""
        fields = self.fields(size, 1)
        return fields["weight"].bytes + sum(field.bytes for field in fields.values())

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that runs a block of forward passes."""
        layer = assignment.linear.Linear(size.width, size.outputs).to(device, memory["weight"].dtype)
        with torch.no_grad():
            layer.weight.copy_(memory["weight"])

        def run() -> None:
            with torch.no_grad():
                for x, y in zip(memory["x"], memory["y"], strict=True):
                    y.copy_(layer(x))

        return run

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Return a function that runs a block of `torch.mm` calls, which write into the results."""
        weight = memory["weight"].clone()

        def run() -> None:
            for x, y in zip(memory["x"], memory["y"], strict=True):
                torch.mm(x, weight, out=y)

        return run

    def remark(self, measured: speed.Measured) -> Text:
        """Return advice on the precision or the extra work suggested by the measured rate."""
        if measured.kind == "cpu":
            return advise_on_cpu(measured.ratio)
        if measured.mfu is None:
            return Text(
                "{ratio} times the speed of a plain matmul: is everything in bfloat16, and is there only one matmul?",
                ratio=f"{measured.ratio:.2f}",
            )
        figure = Text("MFU {mfu}", mfu=f"{measured.mfu:.2f}")
        if is_float32(measured):
            return Text("{figure} is about what float32 reaches: keep everything in bfloat16.", figure=figure)
        if is_tf32(measured):
            return Text("{figure} is about what TF32 reaches: keep everything in bfloat16.", figure=figure)
        if measured.mfu < FP32_REACHES[0] * measured.fraction(torch.float32):
            return Text(
                "{figure} is less than float32 reaches: is there a loop over rows, or a copy to the CPU?", figure=figure
            )
        return Text(
            "{figure}: part of the time is not spent in the matmul. Is something converted, transposed or "
            "copied in every call?",
            figure=figure,
        )


def advise_on_cpu(ratio: float) -> Text:
    """Return advice for a matrix product on a CPU that is slower than `torch.mm`."""
    if ratio < speed.CRAWL:
        return Text(
            "{ratio} times the speed of a plain matmul: is there a Python loop? One `x @ weight` computes all "
            "rows at once.",
            ratio=f"{ratio:.2f}",
        )
    if FLOAT64_ON_CPU[0] <= ratio <= FLOAT64_ON_CPU[1]:
        return Text(
            "{ratio} times the speed of a plain matmul is about what float64 reaches: is something converted to it?",
            ratio=f"{ratio:.2f}",
        )
    return Text(
        "{ratio} times the speed of a plain matmul: is something converted, transposed or copied in every call?",
        ratio=f"{ratio:.2f}",
    )


def is_float32(measured: speed.Measured) -> bool:
    """Return whether an MFU is typical of float32."""
    return is_within(measured.mfu or 0, measured.fraction(torch.float32), FP32_REACHES)


def is_tf32(measured: speed.Measured) -> bool:
    """Return whether an MFU is typical of TF32."""
    return is_within(measured.mfu or 0, measured.fraction(torch.float32, tf32=True), TF32_REACHES)


def is_within(value: float, peak: float, reaches: tuple[float, float]) -> bool:
    """Return whether a value lies between two given fractions of the peak."""
    return reaches[0] * peak <= value <= reaches[1] * peak
