"""How large each workload is on each kind of device: large enough to keep it busy, small enough to wait for."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Size:
    """The numbers that shape a workload; those that it has no use for are 0."""

    batch: int = 0
    width: int = 0
    outputs: int = 0
    layers: int = 0
    parameters: int = 0  # of one optimizer
    tokens: int = 0  # in the data
    sequence: int = 0
    rate: float = 0.0  # the learning rate
    dtype: str = "float32"


SIZES: dict[Kind, dict[str, Size]] = {
    "cpu": {
        "linear_forward": Size(batch=512, width=1024, outputs=512),
        "cruncher_step": Size(batch=512, width=512, layers=3, rate=7.5),
        "train_throughput": Size(batch=512, width=512, layers=3, rate=0.05),
        "sgd_step": Size(parameters=2**20, rate=0.1),
        "adagrad_step": Size(parameters=2**20, rate=0.1),
        "get_batch_throughput": Size(batch=128, sequence=512, tokens=2**18),
        "no_hidden_sync": Size(batch=64, width=64, layers=2, rate=0.05),
        "peak_memory": Size(batch=4096, width=512, layers=4, rate=0.05),
    },
    "cuda": {
        "linear_forward": Size(batch=16384, width=32768, outputs=8192, dtype="bfloat16"),
        "cruncher_step": Size(batch=8192, width=8192, layers=4, rate=30.0, dtype="bfloat16"),
        "train_throughput": Size(batch=8192, width=8192, layers=4, rate=0.05),
        "sgd_step": Size(parameters=2**28, rate=0.1),
        "adagrad_step": Size(parameters=2**28, rate=0.1),
        "get_batch_throughput": Size(batch=256, sequence=4096, tokens=2**26),
        "no_hidden_sync": Size(batch=1024, width=1024, layers=4, rate=0.05),
        "peak_memory": Size(batch=16384, width=8192, layers=4, rate=0.05),
    },
}
