"""Probes of train: a get_batch that keeps count, and optimizers of the tests' own."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .cruncher import keys_of, load, weights_of
from .loading import typed_load


class Batches:
    """Hands out given batches in order, and notes what it was asked for. It draws random numbers, as real ones do."""

    def __init__(self, xs: Sequence[Tensor], ys: Sequence[Tensor]) -> None:
        self.batches = list(zip(xs, ys, strict=True))
        self.sizes: list[int] = []

    def draw(self, B: int) -> tuple[Tensor, Tensor]:
        """The next batch."""
        torch.rand(3)
        Frozen.events.append("batch")
        x, y = self.batches[len(self.sizes) % len(self.batches)]
        self.sizes.append(B)
        return x.clone(), y.clone()

    @property
    def get_batch(self) -> Callable[..., tuple[Tensor, Tensor]]:
        """A function as the stub defines one, by whose name Python calls it when the arguments are wrong."""

        def get_batch(*, B: int) -> tuple[Tensor, Tensor]:
            return self.draw(B)

        get_batch.__qualname__ = "get_batch"
        return get_batch


@contextmanager
def starting_from(assignment: Any, weights: list[Tensor]) -> Iterator[None]:
    """Every new Cruncher that they fit starts with these weights."""
    cruncher = assignment.cruncher.Cruncher
    built = cruncher.__init__
    shapes = {key: weight.shape for key, weight in zip(keys_of(weights), weights, strict=True)}

    def given(model: Any, *args: object, **options: object) -> None:
        built(model, *args, **options)
        if {name: parameter.shape for name, parameter in model.named_parameters()} == shapes:
            load(model, weights)

    cruncher.__init__ = given
    try:
        yield
    finally:
        cruncher.__init__ = built


def typed_start(weights: list[Tensor]) -> str:
    """What has every new Cruncher start with these weights, as it is typed."""
    lines = [
        "def started(self, *args, build=Cruncher.__init__, **options):",
        "    build(self, *args, **options)",
        f"    {typed_load('self', keys_of(weights))}",
        "Cruncher.__init__ = started",
    ]
    return "\n".join(lines)


def typed_train(weights: list[Tensor], steps: int, get_batch: str) -> str:
    """The call, as it is typed."""
    return f"train({get_batch}, {len(weights[-1])}, {len(weights) - 1}, B, {steps}, lr)"


@typed(
    lambda weights, xs: "\n".join(
        [
            typed_start(weights),
            "batches = iter(zip(xs, ys))",
            typed_train(weights, len(xs), "lambda *, B: next(batches)"),
        ]
    )
)
def run(
    assignment: Any, weights: list[Tensor], B: int, lr: float, xs: list[Tensor], ys: list[Tensor]
) -> dict[str, object]:
    """Train on given batches, from given weights on."""
    batches = Batches(xs, ys)
    get_batch = batches.get_batch
    with starting_from(assignment, weights):
        model, losses = assignment.train.train(get_batch, len(weights[-1]), len(weights) - 1, B, len(xs), lr)
    each = [losses] if isinstance(losses, Tensor) else list(losses)
    return {
        "weights": weights_of(model),
        "losses": losses,
        "attached": any(isinstance(loss, Tensor) and loss.requires_grad for loss in each),
        "asked": batches.sizes,
    }


@typed("torch.manual_seed(seed)\ntrain(lambda *, B: None, D, num_layers, 2, 0, 0.1)")
def untrained(assignment: Any, D: int, num_layers: int, seed: int) -> dict[str, object]:
    """What no steps leave behind, and what a model built from the same seed starts with."""
    torch.default_generator.manual_seed(seed)
    start = weights_of(assignment.cruncher.Cruncher(D, num_layers))
    torch.default_generator.manual_seed(seed)
    answer = assignment.train.train(Batches([], []).get_batch, D, num_layers, 2, 0, 0.1)
    model, losses = answer
    return {
        "is a tuple": isinstance(answer, tuple),
        "start": start,
        "weights": weights_of(model),
        "losses": losses,
        "is a Cruncher": isinstance(model, assignment.cruncher.Cruncher),
    }


class Frozen(torch.optim.Optimizer):
    """Stands in for SGD: notes its steps, its rate and what its parameters start from, and moves nothing."""

    events: list[str] = []  # noqa: RUF012  (emptied by the probe)
    rates: list[object] = []  # noqa: RUF012
    starts: list[tuple[Tensor, Tensor]] = []  # noqa: RUF012  (each parameter, and a copy of what it was)

    def __init__(self, params: Any, lr: float = 0.01) -> None:
        super().__init__(params, {"lr": lr})
        Frozen.rates = [group["lr"] for group in self.param_groups]
        Frozen.starts = [(p, p.detach().clone()) for group in self.param_groups for p in group["params"]]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Note."""
        Frozen.events.append("step")
        Frozen.rates += [group["lr"] for group in self.param_groups]


@typed(
    lambda weights, xs, steps: "\n".join(
        [
            "SGD.step = lambda self, closure=None: None",
            typed_start(weights),
            f"B = {len(xs[0])}",
            f"batches = iter({steps} * list(zip(xs, ys)))",
            typed_train(weights, steps, "lambda *, B: next(batches)"),
        ]
    )
)
def with_frozen_sgd(
    assignment: Any, weights: list[Tensor], lr: float, xs: list[Tensor], ys: list[Tensor], steps: int
) -> dict[str, object]:
    """Train while `sgd.SGD` is an optimizer that moves nothing; after the last batch comes the first again."""
    assignment.sgd.SGD = Frozen
    assignment.forget("train")
    Frozen.events, Frozen.rates, Frozen.starts = [], [], []
    get_batch = Batches(xs, ys).get_batch
    with starting_from(assignment, weights):
        model, _ = assignment.train.train(get_batch, len(weights[-1]), len(weights) - 1, len(xs[0]), steps, lr)
    moved = any(not torch.equal(p, start) for p, start in Frozen.starts)
    return {"events": Frozen.events, "rates": Frozen.rates, "moved": moved, "weights": weights_of(model)}


@typed(
    lambda xs, ys, literal: "\n".join(
        [
            f"x = {literal(xs[0])}",
            f"y = {literal(ys[0])}",
            f"train(lambda *, B: (x, y), D, num_layers, {len(xs[0])}, {len(xs)}, 0.01)",
        ]
    )
)
def alive(assignment: Any, D: int, num_layers: int, xs: list[Tensor], ys: list[Tensor]) -> list[int]:
    """How many tensors of several elements, and nodes of graphs, are alive whenever a batch is asked for."""
    counts = []

    class Counting(Batches):
        """Counts at each call."""

        def draw(self, B: int) -> tuple[Tensor, Tensor]:
            tensors = [o for o in gc.get_objects() if isinstance(o, Tensor)]
            counts.append(sum(t.numel() > 1 for t in tensors) + len(graph_of(tensors)))
            return super().draw(B)

    train = assignment.train.train
    gc.freeze()  # what there was before needs no counting
    try:
        train(Counting(xs, ys).get_batch, D, num_layers, len(xs[0]), len(xs), 0.01)
    finally:
        gc.unfreeze()
    return counts


def graph_of(tensors: list[Tensor]) -> set[object]:
    """All nodes that these tensors' graphs hold on to."""
    nodes: set[object] = set()
    further = [t.grad_fn for t in tensors]
    while further:
        node = further.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            further.extend(before for before, _ in node.next_functions)
    return nodes


@typed("train(lambda *, B: None, D, num_layers, 4, 0, 0.1, device=device)")
def built_on(assignment: Any, D: int, num_layers: int, device: str) -> dict[str, object]:
    """Where an untrained model's parameters are, how many there are, and how many losses came with it."""
    model, losses = assignment.train.train(Batches([], []).get_batch, D, num_layers, 4, 0, 0.1, device=device)
    return {
        "devices": sorted({str(p.device) for p in model.parameters()}),
        "parameters": sum(p.numel() for p in model.parameters()),
        "losses": len(losses),
    }
