"""Probes for train: a get_batch that records its calls, and an optimizer that changes nothing."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .cruncher import copy_weights, list_keys, load

SAME_BATCH = "lambda B: (torch.ones(B, D), torch.ones(B))"  # for zero steps, in case a batch is drawn nevertheless


class Batches:
    """A fake get_batch. It returns given batches in order, records the requested sizes, and draws random numbers.

    Only one test asks whether the size is passed by name.
    """

    def __init__(self, xs: Sequence[Tensor], ys: Sequence[Tensor]) -> None:
        self.batches = list(zip(xs, ys, strict=True))
        self.sizes: list[int | str] = []

    def draw(self, size: int | str) -> tuple[Tensor, Tensor]:
        """Return the next batch."""
        torch.rand(3)
        Frozen.events.append("batch")
        x, y = self.batches[len(self.sizes) % len(self.batches)]
        self.sizes.append(size)
        return x.clone(), y.clone()

    @property
    def get_batch(self) -> Callable[..., tuple[Tensor, Tensor]]:
        """A function with the signature and the name of the real get_batch, so that Python's error messages fit."""

        def get_batch(*by_position: int, **by_name: int) -> tuple[Tensor, Tensor]:
            size = bind(*by_position, **by_name)
            return self.draw(f"{size} by position" if by_position else size)

        def bind(B: int) -> int:
            return B

        get_batch.__qualname__ = bind.__qualname__ = bind.__name__ = "get_batch"
        return get_batch


@contextmanager
def starting_from(cruncher: Any, weights: list[Tensor]) -> Iterator[None]:
    """Initialize every new Cruncher of the right size with the given weights."""
    original = cruncher.__init__
    shapes = {key: weight.shape for key, weight in zip(list_keys(weights), weights, strict=True)}

    def build(model: Any, *args: object, **options: object) -> None:
        original(model, *args, **options)
        if {name: parameter.shape for name, parameter in model.named_parameters()} == shapes:
            load(model, weights)

    cruncher.__init__ = build
    try:
        yield
    finally:
        cruncher.__init__ = original


def typed_train(weights: list[Tensor], steps: int, batches: str, *, counts: bool = False) -> str:
    """Return the code that trains on the given batches, starting from the given weights.

    It returns the losses and the trained weights, or the requested batch sizes if it `counts` the calls.
    """
    sizes = f"{len(weights[-1])}, {len(weights) - 1}"
    batch = "(asked.append(B), next(batches))[1]" if counts else "next(batches)"
    return "\n".join(
        [
            "import itertools",
            "from tests.probes.train import starting_from",
            f"batches = itertools.cycle({batches})",
            *["asked = []"] * counts,
            "with starting_from(Cruncher, weights):",
            f"    model, losses = train(lambda B: {batch}, {sizes}, B, {steps}, lr)",
            "asked" if counts else "losses, model.state_dict()",
        ]
    )


def unpack(result: Any) -> tuple[Any, Any]:
    """Return the model and the losses (None if missing) in this order: only one test is about the form of a result."""
    parts = result if isinstance(result, tuple | list) else (result,)
    models = [part for part in parts if isinstance(part, torch.nn.Module)]
    if not models:
        model, losses = result
        return model, losses
    others = [part for part in parts if not isinstance(part, torch.nn.Module)]
    return models[0], others[0] if others else None


@typed(lambda weights, xs: typed_train(weights, len(xs), "zip(xs, ys)"))
def run(
    assignment: Any, weights: list[Tensor], B: int, lr: float, xs: list[Tensor], ys: list[Tensor]
) -> dict[str, object]:
    """Train on the given batches, starting from the given weights."""
    batches = Batches(xs, ys)
    with starting_from(assignment.cruncher.Cruncher, weights):
        model, losses = unpack(
            assignment.train.train(batches.get_batch, len(weights[-1]), len(weights) - 1, B, len(xs), lr)
        )
    return {
        "weights": copy_weights(model),
        "losses": losses,
        "attached": is_attached(losses),
        "asked": batches.sizes,
    }


@typed(f"torch.manual_seed(seed)\ntrain({SAME_BATCH}, D, num_layers, 2, num_train_steps=0, lr=0.1)")
def untrained(assignment: Any, D: int, num_layers: int, seed: int) -> dict[str, object]:
    """Train for zero steps, and build a Cruncher from the same seed for comparison."""
    torch.default_generator.manual_seed(seed)
    start = copy_weights(assignment.cruncher.Cruncher(D, num_layers))
    torch.default_generator.manual_seed(seed)
    result = assignment.train.train(Batches([torch.ones(2, D)], [torch.ones(2)]).get_batch, D, num_layers, 2, 0, 0.1)
    model, losses = unpack(result)
    return {
        "is a tuple": isinstance(result, tuple) and len(result) == 2,
        "model is first": isinstance(result, tuple) and isinstance(result[0], torch.nn.Module),
        "start": start,
        "weights": copy_weights(model),
        "losses": losses,
        "is a Cruncher": isinstance(model, assignment.cruncher.Cruncher),
    }


@typed(
    lambda draws, literal: "\n".join(
        [
            f"for draws in {literal(draws)}:",
            "    def get_batch(B):",
            "        torch.rand(draws)",
            "        return torch.zeros(B, D), torch.zeros(B)",
            "    torch.manual_seed(seed)",
            "    model, losses = train(get_batch, D, num_layers, 2, 1, 0.0)",
            "    print(list(model.parameters()), torch.initial_seed())",
        ]
    )
)
def starts(assignment: Any, D: int, num_layers: int, draws: list[int], seed: int) -> dict[str, object]:
    """Return, for each of `draws`, the weights after one step with lr=0 if get_batch draws that many random numbers.

    Also return the seed of torch's generator afterwards.
    """

    def start(count: int) -> list[Tensor]:
        def get_batch(B: int) -> tuple[Tensor, Tensor]:
            torch.rand(count)
            return torch.zeros(B, D), torch.zeros(B)

        torch.default_generator.manual_seed(seed)
        return copy_weights(unpack(assignment.train.train(get_batch, D, num_layers, 2, 1, 0.0))[0])

    return {"weights": [start(count) for count in draws], "seed": torch.initial_seed()}


class Frozen(torch.optim.Optimizer):
    """A replacement for SGD that records its steps, learning rates and initial parameters, but makes no updates."""

    events: list[str] = []  # noqa: RUF012  (the probe resets it)
    rates: list[object] = []  # noqa: RUF012
    starts: list[tuple[Tensor, Tensor]] = []  # noqa: RUF012  (each parameter and a copy of its initial value)

    def __init__(self, params: Any, lr: float = 0.01) -> None:
        super().__init__(params, {"lr": lr})
        Frozen.rates = [group["lr"] for group in self.param_groups]
        Frozen.starts = [(p, p.detach().clone()) for group in self.param_groups for p in group["params"]]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Record the step and the learning rates that it uses, but change no parameters."""
        if "step" not in Frozen.events:
            Frozen.rates = []
        Frozen.events.append("step")
        Frozen.rates += [group["lr"] for group in self.param_groups]


@typed(
    lambda weights, xs, steps: "\n".join(
        [
            "SGD.step = lambda self, closure=None: None",
            f"B = {len(xs[0])}",
            typed_train(weights, steps, "zip(xs, ys)"),
        ]
    )
)
def with_frozen_sgd(
    assignment: Any, weights: list[Tensor], lr: float, xs: list[Tensor], ys: list[Tensor], steps: int
) -> dict[str, object]:
    """Train with `Frozen` in place of `sgd.SGD`. After the last batch, start again with the first one."""
    assignment.sgd.SGD = Frozen
    del assignment.train
    Frozen.events, Frozen.rates, Frozen.starts = [], [], []
    get_batch = Batches(xs, ys).get_batch
    with starting_from(assignment.cruncher.Cruncher, weights):
        model, _ = unpack(assignment.train.train(get_batch, len(weights[-1]), len(weights) - 1, len(xs[0]), steps, lr))
    moved = any(not torch.equal(p, start) for p, start in Frozen.starts)
    return {"events": Frozen.events, "rates": Frozen.rates, "moved": moved, "weights": copy_weights(model)}


@typed(
    lambda xs, ys, literal: "\n".join(
        [
            f"x = {literal(xs[0])}",
            f"y = {literal(ys[0])}",
            f"train(lambda B: (x, y), D, num_layers, {len(xs[0])}, {len(xs)}, 0.01)",
        ]
    )
)
def alive(assignment: Any, D: int, num_layers: int, xs: list[Tensor], ys: list[Tensor]) -> dict[str, object]:
    """Count the non-scalar tensors and autograd graph nodes in memory at each call of get_batch.

    Also return whether a loss is attached to its graph.
    """
    counts, nodes = [], []

    class Counting(Batches):
        def draw(self, size: int | str) -> tuple[Tensor, Tensor]:
            tensors = [o for o in gc.get_objects() if isinstance(o, Tensor)]
            counts.append(sum(t.numel() > 1 for t in tensors))
            nodes.append(len(find_graph_nodes(tensors)))
            return super().draw(size)

    train = assignment.train.train
    gc.freeze()  # ignore objects that already exist
    try:
        _, losses = unpack(train(Counting(xs, ys).get_batch, D, num_layers, len(xs[0]), len(xs), 0.01))
    finally:
        gc.unfreeze()
    return {"tensors": counts, "nodes": nodes, "attached": is_attached(losses)}


def is_attached(losses: Any) -> bool:
    """Return whether one of the returned losses is attached to its graph."""
    each = [losses] if isinstance(losses, Tensor) else [] if losses is None else list(losses)
    return any(isinstance(loss, Tensor) and loss.requires_grad for loss in each)


def find_graph_nodes(tensors: list[Tensor]) -> set[object]:
    """Return all nodes of the tensors' autograd graphs."""
    nodes: set[object] = set()
    pending = [t.grad_fn for t in tensors]
    while pending:
        node = pending.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            pending.extend(before for before, _ in node.next_functions)
    return nodes


@typed(
    lambda num_train_steps: (
        f"train({SAME_BATCH}, D, num_layers, 4, num_train_steps={num_train_steps}, lr=0.1, device=device)"
    )
)
def built_on(assignment: Any, D: int, num_layers: int, device: str, num_train_steps: int) -> dict[str, object]:
    """Return the devices and the number of parameters of a new model, and the number of returned losses."""
    batches = Batches([torch.ones(4, D)], [torch.ones(4)])
    model, losses = unpack(
        assignment.train.train(batches.get_batch, D, num_layers, 4, num_train_steps, 0.1, device=device)
    )
    return {
        "devices": sorted({str(p.device) for p in model.parameters()}),
        "parameters": sum(p.numel() for p in model.parameters()),
        "losses": num_train_steps if losses is None else len(losses),  # another test is about missing losses
    }
