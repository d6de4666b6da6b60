"""What each workload is given, fresh for every block, and whether what came back is right."""

from collections.abc import Callable, Mapping
from typing import Protocol

from grader.speed.checks.batches import BatchCheck
from grader.speed.checks.optimizers import AdaGradCheck, SGDCheck
from grader.speed.checks.products import ProductCheck
from grader.speed.checks.training import StepCheck, TrainingCheck
from torchkata.speed.layout import Memory
from torchkata.speed.sizes import Size


class Check(Protocol):
    """The inputs of one side, laid out in the memory that is shared with its worker, and the results that came of them.

    On a GPU the results are copies: there a worker's memory may still change while the worker stands still.
    """

    floor: float  # the largest relative error that any right result may have

    def prepare(self) -> None:
        """Lay out what stays the same for all blocks; the worker has not begun."""

    def begun(self) -> None:
        """Take in what the worker has made at its beginning."""

    def refresh(self) -> None:
        """Lay out new inputs, and spoil the results."""

    def error(self) -> float:
        """The relative error of the results of the last block; infinite where they are not there."""


CHECKS: Mapping[str, Callable[[Memory, Memory, Size], Check]] = {
    "linear_forward": ProductCheck,
    "cruncher_step": StepCheck,
    "train_throughput": TrainingCheck,
    "no_hidden_sync": TrainingCheck,
    "peak_memory": TrainingCheck,
    "sgd_step": SGDCheck,
    "adagrad_step": AdaGradCheck,
    "get_batch_throughput": BatchCheck,
}
