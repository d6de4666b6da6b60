"""Probes for train_language_model: small models that record their calls, and runs that are killed and resumed."""

from bisect import bisect_left
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from torch import Tensor, nn

from torchkata import typed

from .attempts import refusal
from .recorded_run import copy_weights, running
from .tables import Tables

COUNT = 400  # tokens in the file of a training run
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


class Once:
    """An iterator that counts how often its end was reached."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self.ends = iter(items), 0

    def __iter__(self) -> "Once":
        """Return the iterator itself, like any iterator."""
        return self

    def __next__(self) -> Any:
        """Return the next item."""
        for item in self.items:
            return item
        self.ends += 1
        raise StopIteration


PREPARE = (
    "params = [nn.Parameter(torch.zeros(())) for _ in grads]\n"
    "for p, grad in zip(params, grads):\n    if grad is not None:\n        p.data, p.grad = grad.clone(), grad\n"
)
SHOW_IN_PLACE = (
    f"{PREPARE}before = [p.grad for p in params]\nclip_gradients(iter(params), max_norm)\n"
    "all(p.grad is grad for p, grad in zip(params, before))"
)


@typed(f"{PREPARE}clip_gradients(iter(params), max_norm), [p.grad for p in params]")
def clip(assignment: Any, grads: list[Tensor | None], max_norm: float) -> dict[str, object]:
    """Clip the gradients of parameters, which are passed as an iterator. None stands for a missing gradient."""
    parameters = [nn.Parameter(torch.zeros(2) if grad is None else torch.zeros_like(grad)) for grad in grads]
    before = [None if grad is None else grad.clone() for grad in grads]
    for p, grad in zip(parameters, before, strict=True):
        p.grad = grad
    given = Once(parameters)
    norm = assignment.train_language_model.clip_gradients(given, max_norm)
    after = [p.grad for p in parameters]
    in_place = all(one is other for one, other in zip(before, after, strict=True))
    return {"norm": norm, "gradients": after, "ends": given.ends, "in place": in_place}


@typed(
    "model = nn.ParameterList(map(torch.zeros, shapes))\n"
    "model.bias, model.embedding = nn.Parameter(torch.zeros(2)), nn.Embedding(3, 2)\n"
    "make_optimizer(model, lr, weight_decay).param_groups"
)
def groups(assignment: Any, shapes: list[list[int]], lr: float, weight_decay: float) -> dict[str, object]:
    """Return the optimizer options of each parameter of a model, and whether the optimizer is the student's AdamW.

    The last two are called "bias", and the weight of an embedding.
    """
    model = nn.Module()
    model.inner = nn.ParameterList([nn.Parameter(torch.zeros(shape)) for shape in shapes[1:]])
    model.register_parameter("own", nn.Parameter(torch.zeros(shapes[0])))
    model.bias, model.embedding = nn.Parameter(torch.zeros(2)), nn.Embedding(3, 2)
    optimizer = assignment.train_language_model.make_optimizer(model, lr, weight_decay)

    def options(p: Tensor) -> list[dict[str, object]]:
        found = [group for group in optimizer.param_groups for one in group["params"] if one is p]
        return [{"lr": g["lr"], "betas": list(g["betas"]), "weight_decay": float(g["weight_decay"])} for g in found]

    return {
        "options": [options(p) for p in (model.own, *model.inner, model.bias, model.embedding.weight)],
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


def draw_tokens(seed: int, settings: dict[str, Any], count: int) -> Tensor:
    """Return random tokens."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, settings["vocab"], (count,), generator=generator).to(torch.uint16)


def write_tokens(seed: int, settings: dict[str, Any], count: int) -> str:
    """Return the code that writes a file of tokens."""
    return (
        f"tokens = torch.randint({settings['vocab']}, ({count},), generator=torch.Generator().manual_seed({seed}))\n"
        "save_tokens('tokens.bin', tokens.to(torch.uint16).numpy())\n"
    )


def write_settings(seed: int, settings: dict[str, Any], count: int = COUNT) -> str:
    """Return the code that prepares a training run."""
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return f"{write_tokens(seed, settings, count)}settings = Settings({given})\n"


TRAIN = "train_lm('tokens.bin', 'run.pt', settings, print)"


def write_training(seed: int, settings: dict[str, Any], count: int = COUNT) -> str:
    """Return the code of a training run."""
    return write_settings(seed, settings, count) + TRAIN


def write_batches(seed: int, settings: dict[str, Any], count: int, seeds: list[int]) -> str:
    """Return the code of training runs with different seeds that prints their batches."""
    record = "def record(*args, **options):\n    print(batch := draw(*args, **options))\n    return batch\n"
    options = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    return (
        f"{write_tokens(seed, settings, count)}import assignment.train_language_model as own\n"
        f"draw = own.get_batch\n{record}own.get_batch = record\n"
        f"for number in {seeds}:\n"
        f"    own.train_lm('tokens.bin', f'{{number}}.pt', Settings({options}, seed=number))"
    )


def write_rates(seed: int, settings: dict[str, Any]) -> str:
    """Return the code of a training run that prints the learning rates in each step of AdamW."""
    record = "def record(self, *closure):\n    print([group['lr'] for group in self.param_groups])\n"
    calls = "    return step(self, *closure)\nAdamW.step = record\n"
    return (
        f"{write_settings(seed, settings)}step = AdamW.step\n{record}{calls}train_lm('tokens.bin', 'run.pt', settings)"
    )


@typed(write_training)
def train(assignment: Any, seed: int, settings: dict[str, Any], count: int = COUNT) -> dict[str, object]:
    """Train without interruption. Return the run's calls to functions of earlier katas, and the reported values."""
    with running(assignment, draw_tokens(seed, settings, count), settings) as run:
        model = run.train()
        is_own = type(model).__name__ == "LanguageModel"
    return {
        "sizes": run.sizes,
        "batches": run.batches,
        "seeds": run.seeds,
        "rates": run.rates,
        "saves": run.saves,
        "reports": run.reports,
        "reported before saved": run.reported_before_saved,
        "used": sorted(run.used),
        "is a LanguageModel": is_own,
    }


def write_resumed_run(seed: int, settings: dict[str, Any], stops: list[int]) -> str:
    """Return the code of a run without interruption, and of one that is killed and resumed."""
    return (
        write_settings(seed, settings) + "train_lm('tokens.bin', 'whole.pt', settings, print)\n"
        "def report(step, loss):\n"
        "    print(step, loss)\n"
        f"    if step in {stops}: raise KeyboardInterrupt  # as if the process was killed\n"
        f"for start in range({len(stops) + 1}):\n"
        "    torch.manual_seed(100 + start)  # a new process\n"
        "    try: train_lm('tokens.bin', 'run.pt', settings, report)\n"
        "    except KeyboardInterrupt: pass"
    )


@typed(write_resumed_run)
def resume(assignment: Any, seed: int, settings: dict[str, Any], stops: list[int]) -> dict[str, object]:
    """Train once without interruption, and once with a kill and a restart after each of the steps in `stops`.

    After each restart, torch's generator is in a different state and `hash` of a string differs, as in a new process.
    """
    tokens = draw_tokens(seed, settings, COUNT)
    with running(assignment, tokens, settings) as run:
        torch.manual_seed(1)
        through, reports, all_batches = copy_weights(run.train()), run.reports, run.batches
    with running(assignment, tokens, settings) as run:
        sessions, batches = [], []
        for start, stop in enumerate([*stops, None]):
            torch.manual_seed(100 + start)
            run.reports, run.batches, run.process = [], [], start
            model = run.train(stop)
            sessions.append(run.reports)
            batches.append(run.batches)
        run.reports = []
        again = copy_weights(run.train())
    return {
        "through": through,
        "reports": reports,
        "batch of each step": all_batches,
        "sessions": sessions,
        "batches": batches,
        "resumed": copy_weights(model),
        "again": again,
        "reports when done": run.reports,
        "used": sorted(run.used),
    }


def write_damage(seed: int, settings: dict[str, Any]) -> str:
    """Return the code that damages a checkpoint and resumes the run."""
    damage = "damaged = Path('run.pt').read_bytes()[:100]\nPath('run.pt').write_bytes(damaged)\n"
    return f"{write_training(seed, settings)}\n{damage}{TRAIN}"


@typed(write_damage)
def corrupt(assignment: Any, seed: int, settings: dict[str, Any]) -> dict[str, object]:
    """Train, damage the checkpoint, and resume. Return the raised exceptions and whether the file is unchanged."""
    with running(assignment, draw_tokens(seed, settings, COUNT), settings) as run:
        run.train()
        damaged = run.out.read_bytes()[:100]
        run.out.write_bytes(damaged)
        raised = refusal(run.train)
        return {"raised": raised, "as before": run.out.read_bytes() == damaged}


@typed(write_training)
def devices(assignment: Any, seed: int, settings: dict[str, Any]) -> list[str]:
    """Train, and return the devices of the model's parameters."""
    with running(assignment, draw_tokens(seed, settings, COUNT), settings) as run:
        return sorted({p.device.type for p in run.train().parameters()})


def draw_source(seed: int, vocab: int = 3, count: int = 20_000) -> tuple[Array[Any, Any], Array[Any, Any]]:
    """Return the probabilities of each token given the previous two tokens, and a text drawn from them."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet([0.5] * vocab, (vocab, vocab))
    cumulated, text = np.cumsum(table, -1).tolist(), [0, 0]
    for number in rng.random(count).tolist():
        text.append(min(bisect_left(cumulated[text[-2]][text[-1]], number), vocab - 1))
    return table, np.array(text, dtype=np.uint16)


@typed(
    lambda seed, settings: (
        "from tests.probes.train_language_model import draw_source\n"
        f"save_tokens('tokens.bin', draw_source({seed})[1])\n"
        f"settings = Settings({', '.join(f'{key}={value!r}' for key, value in settings.items())})\n{TRAIN}"
    )
)
def learn(assignment: Any, seed: int, settings: dict[str, Any], windows: Tensor) -> dict[str, object]:
    """Train, and return the logits for the token after each window, and the weights that have not changed."""
    tokens = torch.from_numpy(draw_source(seed)[1])
    with running(assignment, tokens, settings | {"steps": 0}) as run:
        before = copy_weights(run.train())
    with running(assignment, tokens, settings) as run:
        model = run.train()
        after = copy_weights(model)
        with torch.no_grad():
            scores = model(windows)[:, -1]
    same = [key for key, value in after.items() if value.ndim >= 2 and key in before and value.equal(before[key])]
    return {"scores": scores, "unchanged": same}
