"""Steps of optimizers, and whether torch has imported its compiler for them; `spared`: it was told not to."""

import sys
from typing import Any

import torch

from reference.sgd.solution import SGD
from torchkata.compat.torch_internals import skip_dynamo_import

KINDS = ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta")


def steps(kind: Any) -> tuple[object, object]:
    """Where a parameter is after two steps, and what a third one returns."""
    p: Any = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = kind([p], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        p.square().sum().backward()
        optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    return p.tolist(), optimizer.step(lambda: p.grad.is_leaf)


if __name__ == "__main__":
    if sys.argv[1] == "spared":
        skip_dynamo_import()
    kinds = [SGD, *(getattr(torch.optim, name) for name in KINDS)]
    print([steps(kind) for kind in kinds], "torch._dynamo" in sys.modules)
