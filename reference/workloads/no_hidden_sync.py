"""A training run behind a device that is busy; on a CPU, which never is, the number of reads that would wait."""

from typing import Any

from reference.workloads.training import TrainingRun, train
from torchkata import speed


class NoHiddenSync(TrainingRun, speed.HostWait):
    """In training the host queues work and does not wait for the device."""

    sizes = {
        "cpu": speed.Size(batch=64, width=64, layers=2, rate=0.05),
        "cuda": speed.Size(batch=1024, width=1024, layers=4, rate=0.05),
    }

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """The device is busy from the first batch on: moving a new model there has to wait, and may."""
        if device == "cuda":
            return train(assignment, size, memory, device, speed.keep_busy)
        work = train(assignment, size, memory, device)
        return lambda: speed.host_reads(work)

    def remark(self, measured: speed.Measured) -> str:  # noqa: ARG002
        """What waits."""
        return (
            "The host waited for the device within a step. `.item()`, `float(loss)`, `print(loss)`, `.cpu()` and "
            "`if loss > …` all do that; keep `loss.detach()` and look at it after the last step."
        )
