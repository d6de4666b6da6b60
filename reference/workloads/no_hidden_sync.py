"""Measures how long the host waits for a busy GPU during training or, on a CPU, how often it reads a value."""

from typing import Any

from reference.workloads.training import TrainingRun, train
from torchkata import speed


class NoHiddenSync(TrainingRun, speed.HostWait):
    """Training queues work without waiting for the device."""

    sizes = {
        "cpu": speed.Size(batch=64, width=64, layers=2, rate=0.05),
        "cuda": speed.Size(batch=1024, width=1024, layers=4, rate=0.05),
    }

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """Return a function that trains and keeps a GPU busy from the first batch on. Earlier waits are allowed."""
        if device == "cuda":
            return train(assignment, size, memory, device, speed.keep_busy)
        work = train(assignment, size, memory, device)
        return lambda: speed.host_reads(work)

    def remark(self, measured: speed.Measured) -> str:  # noqa: ARG002
        """Return advice on finding the code that makes the host wait."""
        return (
            "The host waited for the device within a step. `.item()`, `float(loss)`, `print(loss)`, `.cpu()` and "
            "`if loss > …` all wait; store `loss.detach()` and read it after the last step."
        )
