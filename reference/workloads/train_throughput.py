"""Times the steps of `train` and checks the final weights."""

from reference.workloads.training import TrainingRun, step_flops, step_intensity
from torchkata import speed


class TrainThroughput(TrainingRun, speed.Rate):
    """Training steps are limited by their matrix multiplications."""

    sizes = {
        "cpu": speed.Size(batch=512, width=512, layers=3, rate=0.05),
        "cuda": speed.Size(batch=8192, width=8192, layers=4, rate=0.05),
    }
    unit = "FLOP"

    def amount(self, size: speed.Size) -> float:
        """Return the FLOPs of a step."""
        return step_flops(size.batch, size.width, size.layers)

    def intensity(self, size: speed.Size) -> float:
        """Return the arithmetic intensity of a step."""
        return step_intensity(size)

    def remark(self, measured: speed.Measured) -> str:
        """Return advice on what slows down the training loop."""
        if measured.kind == "cuda":
            return (
                f"{measured.ratio:.2f} times the speed of plain steps: "
                "does the loop wait for the device? `.item()`, `float(loss)` and "
                "`print(loss)` wait; store `loss.detach()` and read the losses after the last step."
            )
        return (
            f"{measured.ratio:.2f} times the speed of plain steps: "
            "what does the loop do besides forward, backward and step? "
            "Build the model and the optimizer once, before the loop."
        )
