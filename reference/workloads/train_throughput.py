"""Steps of `train` that depend on each other; the final weights are checked."""

from reference.workloads.training import TrainingRun, step_flops, step_intensity
from torchkata import speed


class TrainThroughput(TrainingRun, speed.Rate):
    """Training steps take little longer than their products."""

    sizes = {
        "cpu": speed.Size(batch=512, width=512, layers=3, rate=0.05),
        "cuda": speed.Size(batch=8192, width=8192, layers=4, rate=0.05),
    }
    unit = "FLOP"

    def amount(self, size: speed.Size) -> float:
        """Of a step."""
        return step_flops(size.batch, size.width, size.layers)

    def intensity(self, size: speed.Size) -> float:
        """Of a step."""
        return step_intensity(size)

    def remark(self, measured: speed.Measured) -> str:
        """What makes a loop wait."""
        if measured.kind == "cuda":
            return (
                f"{measured.ratio:.2f} of plain steps: does the loop wait for the device? `.item()`, `float(loss)` and "
                "`print(loss)` do; keep `loss.detach()` and read the losses after the last step."
            )
        return (
            f"{measured.ratio:.2f} of plain steps: what does the loop do beside forward, backward and step? "
            "Model and optimizer are built once, before it."
        )
