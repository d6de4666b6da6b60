"""Times the steps of `train` and checks the final weights."""

from typing import Any

from reference.workloads.training import TrainingCheck, TrainingRate, batches, step, train
from torchkata import Text, speed


class TrainThroughput(TrainingRate):
    """Training steps are limited by their matrix multiplications."""

    sizes = {
        "cpu": speed.Size(batch=512, width=512, layers=3, rate=0.05),
        "cuda": speed.Size(batch=2048, width=2048, layers=4, rate=0.05),  # about 3.5 ms on an H100, so many steps
    }
    check = TrainingCheck

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Return the batches, the initial weights and the final weights."""
        L, D, dtype = size.layers, size.width, speed.dtype_of(size)
        return {
            **batches(size, calls),
            "layers": speed.Field((L, D, D), dtype, "both"),  # initial weights, drawn by the student's code
            "final": speed.Field((D, 1), dtype, "both"),
            "new_layers": speed.Field((L, D, D), dtype, "filled"),
            "new_final": speed.Field((D, 1), dtype, "filled"),
        }

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that runs the student's `train`."""
        return train(assignment, size, memory, device)

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Return a function that runs plain steps from random weights."""
        for weight in (memory["layers"], memory["final"]):
            weight.normal_(std=size.width**-0.5)

        def run() -> None:
            layers, final = memory["layers"].clone(), memory["final"].clone()
            for x, target in zip(memory["x"], memory["target"], strict=True):
                step(x, target, layers, final, size.rate)
            memory["new_layers"].copy_(layers)
            memory["new_final"].copy_(final)

        return run

    def remark(self, measured: speed.Measured) -> Text:
        """Return advice on what slows down the training loop."""
        return Text(
            "{ratio} times the speed of plain steps: what does the loop do besides forward, backward and "
            "step? Build the model and the optimizer once, before the loop.",
            ratio=f"{measured.ratio:.2f}",
        )
