"""Probes for train_language_model: small models that record their calls, and runs that are killed and resumed."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .attempts import refusal
from .recorded_run import copy_weights, running
from .tables import Tables

STALE = 0.0003  # a gradient from before a step, so small that it does not change the global norm


class Product(nn.Module):
    """A model that multiplies two matrices, and records the dtype of the product."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Parameter(torch.eye(4)), nn.Parameter(torch.eye(4))
        self.dtypes: list[str] = []

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits."""
        logits = self.left[tokens.long()] @ self.right
        self.dtypes.append(str(logits.dtype).removeprefix("torch."))
        return logits


@typed(
    "params = [nn.Parameter(torch.zeros(())) for _ in grads]\n"
    "for p, grad in zip(params, grads):\n    if grad is not None:\n        p.data, p.grad = grad.clone(), grad\n"
    "clip_gradients(iter(params), max_norm), [p.grad for p in params]"
)
def clip(assignment: Any, grads: list[Tensor | None], max_norm: float) -> dict[str, object]:
    """Clip the gradients of parameters, which are passed as an iterator. None stands for a missing gradient."""
    parameters = [nn.Parameter(torch.zeros(2) if grad is None else torch.zeros_like(grad)) for grad in grads]
    for p, grad in zip(parameters, grads, strict=True):
        p.grad = None if grad is None else grad.clone()
    norm = assignment.train_language_model.clip_gradients(iter(parameters), max_norm)
    return {"norm": norm, "gradients": [p.grad for p in parameters]}


@typed("model = nn.ParameterList(map(torch.zeros, shapes))\nmake_optimizer(model, lr, weight_decay).param_groups")
def groups(assignment: Any, shapes: list[list[int]], lr: float, weight_decay: float) -> dict[str, object]:
    """Return the optimizer options of each parameter of a model, and whether the optimizer is the student's AdamW."""
    model = nn.Module()
    model.inner = nn.ParameterList([nn.Parameter(torch.zeros(shape)) for shape in shapes[1:]])
    model.register_parameter("own", nn.Parameter(torch.zeros(shapes[0])))
    optimizer = assignment.train_language_model.make_optimizer(model, lr, weight_decay)

    def options(p: Tensor) -> list[dict[str, object]]:
        found = [group for group in optimizer.param_groups for one in group["params"] if one is p]
        return [{"lr": g["lr"], "betas": list(g["betas"]), "weight_decay": float(g["weight_decay"])} for g in found]

    return {
        "options": [options(p) for p in (model.own, *model.inner)],
        "is AdamW": isinstance(optimizer, assignment.adamw.AdamW),
    }


class Recording(torch.optim.SGD):
    """SGD that appends the gradients of each step to the list of events."""

    def __init__(self, model: Tables, lr: float) -> None:
        super().__init__([model.tables], lr=lr)
        self.model = model

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Record the gradient, then update the tables."""
        grads = [None if p.grad is None else p.grad.clone() for p in (self.model.tables, self.model.shift)]
        self.model.events.append(["step", *grads])
        super().step()


@typed(
    "from tests.probes.tables import Tables\n"
    "model = Tables(tables)\n"
    "model.tables.grad, model.shift.grad = before, torch.tensor(0.0003)\n"
    "settings = Settings(micro_batch_size=micro_batch_size, max_norm=max_norm)\n"
    "training_step(model, torch.optim.SGD([model.tables], lr=lr), batch, settings)\n"
    "model.tables, model.shift.grad"
)
def step(
    assignment: Any, tables: Tensor, before: Tensor, batch: Tensor, micro_batch_size: int, max_norm: float, lr: float
) -> dict[str, object]:
    """Take an SGD step, and return the loss and the events. `before` is the gradient before the step.

    The optimizer lacks the parameter `shift`, whose gradient before the step is small.
    """
    model = Tables(tables)
    model.tables.grad, model.shift.grad = before.clone(), torch.tensor(STALE)
    settings = assignment.train_language_model.Settings(micro_batch_size=micro_batch_size, max_norm=max_norm)
    value = assignment.train_language_model.training_step(model, Recording(model, lr), batch.clone(), settings)
    return {
        "loss": value,
        "events": [event[:2] for event in model.events if event[0] != "step"],
        "steps": [event[1] for event in model.events if event[0] == "step"],
        "shift": [event[2] for event in model.events if event[0] == "step"],
        "names": [event[0] for event in model.events],
    }


@typed(
    "from tests.probes.train_language_model import Product\n"
    "model = Product()\n"
    "settings = Settings(micro_batch_size=2, bfloat16=bfloat16)\n"
    "training_step(model, torch.optim.SGD(model.parameters(), lr=0.1), batch, settings)"
)
def precision(assignment: Any, batch: Tensor, bfloat16: bool) -> dict[str, object]:
    """Return the dtypes of a step's matrix products, and the dtypes of the parameters and gradients."""
    model = Product()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    settings = assignment.train_language_model.Settings(micro_batch_size=2, bfloat16=bfloat16)
    assignment.train_language_model.training_step(model, optimizer, batch, settings)
    tensors = [each for p in model.parameters() for each in (p, p.grad) if each is not None]
    return {
        "products": sorted({*model.dtypes}),
        "parameters": sorted({str(each.dtype).removeprefix("torch.") for each in tensors}),
    }


def write_training(settings: dict[str, Any]) -> str:
    """Return the code of a training run."""
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return (
        "save_tokens('tokens.bin', tokens.numpy())\n"
        f"settings = Settings({given})\n"
        "train_lm('tokens.bin', 'run.pt', settings, print)"
    )


@typed(write_training)
def train(assignment: Any, tokens: Tensor, settings: dict[str, Any]) -> dict[str, object]:
    """Train without interruption. Return the run's calls to functions of earlier katas, and the reported values."""
    with running(assignment, tokens, settings) as run:
        model = run.train()
        is_own = type(model).__name__ == "LanguageModel"
    return {
        "sizes": run.sizes,
        "batches": run.batches,
        "rates": run.rates,
        "saves": run.saves,
        "reports": run.reports,
        "used": sorted(run.used),
        "is a LanguageModel": is_own,
    }


@typed(write_training)
def resume(assignment: Any, tokens: Tensor, settings: dict[str, Any], stops: list[int]) -> dict[str, object]:
    """Train once without interruption, and once with a kill and a restart after each of the steps in `stops`.

    After each restart, torch's generator is in a different state and `hash` of a string differs, as in a new process.
    """
    with running(assignment, tokens, settings) as run:
        torch.manual_seed(1)
        through, reports = copy_weights(run.train()), run.reports
    with running(assignment, tokens, settings) as run:
        sessions = []
        for start, stop in enumerate([*stops, None]):
            torch.manual_seed(100 + start)
            run.reports, run.process = [], start
            model = run.train(stop)
            sessions.append(run.reports)
        run.reports = []
        again = copy_weights(run.train())
    return {
        "through": through,
        "reports": reports,
        "sessions": sessions,
        "resumed": copy_weights(model),
        "again": again,
        "reports when done": run.reports,
        "used": sorted(run.used),
    }


@typed(write_training)
def corrupt(assignment: Any, tokens: Tensor, settings: dict[str, Any]) -> dict[str, object]:
    """Train, damage the checkpoint, and resume. Return the raised exceptions and whether the file is unchanged."""
    with running(assignment, tokens, settings) as run:
        run.train()
        damaged = run.out.read_bytes()[:100]
        run.out.write_bytes(damaged)
        raised = refusal(run.train)
        return {"raised": raised, "as before": run.out.read_bytes() == damaged}


@typed(write_training)
def devices(assignment: Any, tokens: Tensor, settings: dict[str, Any]) -> list[str]:
    """Train, and return the devices of the model's parameters."""
    with running(assignment, tokens, settings) as run:
        return sorted({p.device.type for p in run.train().parameters()})


@typed(write_training)
def learn(assignment: Any, tokens: Tensor, settings: dict[str, Any], windows: Tensor) -> dict[str, object]:
    """Train, and return the logits for the token after each window, and the weights that have not changed."""
    with running(assignment, tokens, settings | {"steps": 0}) as run:
        before = copy_weights(run.train())
    with running(assignment, tokens, settings) as run:
        model = run.train()
        after = copy_weights(model)
        with torch.no_grad():
            scores = model(windows)[:, -1]
    same = [key for key, value in after.items() if value.ndim >= 2 and key in before and value.equal(before[key])]
    return {"scores": scores, "unchanged": same}
