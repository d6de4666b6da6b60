"""Times a forward pass, a backward pass and one SGD step per call, always from the same weights."""

import math
from typing import Any

import torch

from reference.workloads.linear_forward import LinearForward, is_float32, is_tf32
from reference.workloads.training import TrainingCheck, TrainingRate, Weights, batches, load, save, step
from torchkata import Text, speed


class StepCheck(TrainingCheck):
    """Checks one step per call, starting from the given weights."""

    def least_error(self) -> float:
        """Return the relative error that rounding causes in the change of the weights, with a margin.

        The change depends on L + 4 results that are rounded in sequence, and on the rounding of the new weights, which
        are `√D / rate` times as large. The margin is narrow so that products in int8 are wrong.
        """
        roundings = self.size.layers + 4 + self.size.width / self.size.rate**2
        of_results = speed.ROUNDING * torch.finfo(self.memory["x"].dtype).eps * math.sqrt(roundings)
        return speed.OWN_MARGIN * of_results + self.error_of_sums()

    def prepare(self) -> None:
        """Draw the weights."""
        for name in ("layers", "final"):
            self.inputs.fill(self.memory[name]).mul_(3**0.5 * self.size.width**-0.5)
        super().prepare()

    def error(self) -> float:
        """Return the largest error over all calls."""
        errors = []
        results = zip(self.batches(), self.results["new_layers"], self.results["new_final"], strict=True)
        for (x, target), layers, final in results:
            right = Weights.of(self.start.layers, self.start.final)
            right.step(x, target, self.size.rate)
            errors.append(right.error(self.start, layers, final))
        return max(errors)


class CruncherStep(TrainingRate):
    """The forward pass, the backward pass and an SGD step are limited by their matrix multiplications."""

    sizes = {
        "cpu": speed.Size(batch=512, width=512, layers=3, rate=7.5),
        "cuda": speed.Size(batch=8192, width=8192, layers=4, rate=300.0, dtype="bfloat16"),
    }
    check = StepCheck

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Return the batches, the weights shared by all calls, and the results of each call."""
        L, D, dtype = size.layers, size.width, speed.dtype_of(size)
        return {
            **batches(size, calls),
            "layers": speed.Field((L, D, D), dtype, "given"),
            "final": speed.Field((D, 1), dtype, "given"),
            "new_layers": speed.Field((calls, L, D, D), dtype, "filled"),
            "new_final": speed.Field((calls, D, 1), dtype, "filled"),
        }

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that runs a block of steps with the student's model and optimizer."""
        model = assignment.cruncher.Cruncher(size.width, size.layers).to(device, memory["x"].dtype)
        optimizer = assignment.sgd.SGD(model.parameters(), lr=size.rate)

        def run() -> None:
            for x, target, layers, final in zip(
                memory["x"], memory["target"], memory["new_layers"], memory["new_final"], strict=True
            ):
                load(model, memory["layers"], memory["final"])
                model.zero_grad(set_to_none=True)
                (model(x) - target).square().mean().backward()
                optimizer.step()
                save(model, layers, final)

        return run

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Return a function that runs a block of steps without autograd."""

        def run() -> None:
            for x, target, layers, final in zip(
                memory["x"], memory["target"], memory["new_layers"], memory["new_final"], strict=True
            ):
                layers.copy_(memory["layers"])
                final.copy_(memory["final"])
                step(x, target, layers, final, size.rate)

        return run

    def remark(self, measured: speed.Measured) -> Text:
        """Return advice on precision, loops and extra work in a step."""
        if measured.kind == "cuda" and measured.mfu is not None and (is_float32(measured) or is_tf32(measured)):
            return LinearForward().remark(measured)
        if measured.ratio < speed.CRAWL:
            return Text(
                "{ratio} times the speed of plain matmuls: is there a Python loop over rows or elements, or a "
                "`.item()`?",
                ratio=f"{measured.ratio:.2f}",
            )
        return Text(
            "{ratio} times the speed of plain matmuls: a step needs three matmuls per layer. Is a pass computed twice, "
            "does x require a gradient that is not used, or does the optimizer allocate temporaries?",
            ratio=f"{measured.ratio:.2f}",
        )
