"""Probes for language_model: small models that record their calls, and runs that are killed and resumed."""

from typing import Any

import torch
from torch import Tensor, nn

from torchkata import typed

from .attempts import refusal
from .loading import load
from .recorded_run import copy_weights, running


class Tables(nn.Module):
    """A model that records its calls. Its logits are the sum of `tables[i, tokens[i]]` over all positions so far."""

    def __init__(self, tables: Tensor, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        self.tables = nn.Parameter(tables.clone())
        self.context = len(tables)
        self.dtype = dtype  # dtype of the logits
        self.events: list[list[Any]] = []
        self.builds_graphs = False

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits. A position beyond the context uses the last table."""
        rows, length = tokens.shape
        places = torch.arange(length).clamp(max=self.context - 1)
        logits = self.tables[places, tokens.long()].cumsum(1)
        logits = logits if self.dtype is None else logits.to(self.dtype)
        self.builds_graphs = logits.requires_grad
        self.events.append(["forward", rows, length])
        if logits.requires_grad:
            logits.register_hook(  # type: ignore[no-untyped-call]
                lambda _: self.events.append(["backward", rows, length])
            )
        return logits


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


def build(assignment: Any, weights: dict[str, Tensor], sizes: list[int]) -> Any:
    """Build a LanguageModel in float64 with the given weights."""
    model = assignment.language_model.LanguageModel(*sizes).double()
    load(model, weights)
    return model


@typed("model = LanguageModel(*sizes)\n{key: list(p.shape) for key, p in model.state_dict().items()}, model.context")
def shapes(assignment: Any, sizes: list[int]) -> dict[str, object]:
    """Return the shapes of a model's state and parameters, its context, and the classes of its parts."""
    model = assignment.language_model.LanguageModel(*sizes)
    own = {
        "attentions": assignment.language_model.CausalAttention,
        "blocks": assignment.deep_network.Block,
        "output": assignment.linear.Linear,
    }
    parts = {name: [*part] if isinstance(part := getattr(model, name), nn.ModuleList) else [part] for name in own}
    return {
        "state": {key: list(value.shape) for key, value in model.state_dict().items()},
        "parameters": sorted(key for key, _ in model.named_parameters(remove_duplicate=False)),
        "distinct": len({id(p) for p in model.parameters()}),
        "context": model.context,
        "foreign": [name for name, own_class in own.items() if not all(isinstance(p, own_class) for p in parts[name])],
    }


@typed("model = LanguageModel(*sizes).double()\nmodel.load_state_dict(weights)\nmodel(tokens)")
def logits(assignment: Any, sizes: list[int], weights: dict[str, Tensor], tokens: Tensor) -> Tensor:
    """Return the logits of a model with the given weights."""
    result: Tensor = build(assignment, weights, sizes)(tokens)
    return result.detach()


@typed(
    "model = LanguageModel(*sizes)\n"
    "with torch.no_grad():\n    model.output.weight.zero_()\n"
    "[loss(model, batch).item() for batch in batches]"
)
def zeroed(assignment: Any, sizes: list[int], batches: list[Tensor]) -> list[float]:
    """Return the losses of a new model whose output weight is set to zero."""
    model = assignment.language_model.LanguageModel(*sizes)
    with torch.no_grad():
        model.output.weight.zero_()
    return [float(assignment.language_model.loss(model, batch)) for batch in batches]


@typed("from tests.probes.language_model import Tables\nloss(Tables(tables), batch)")
def loss(assignment: Any, tables: Tensor, batch: Tensor, dtype: str) -> dict[str, object]:
    """Return the loss of a `Tables` model with logits of the given dtype, and the model's calls."""
    model, tokens = Tables(tables, getattr(torch, dtype)), batch.clone()
    value = assignment.language_model.loss(model, tokens)
    has_graph = isinstance(value, Tensor) and value.requires_grad
    return {"loss": value, "has graph": has_graph, "calls": model.events, "batch": tokens}


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
    norm = assignment.language_model.clip_gradients(iter(parameters), max_norm)
    return {"norm": norm, "gradients": [p.grad for p in parameters]}


@typed("model = nn.ParameterList(map(torch.zeros, shapes))\nmake_optimizer(model, lr, weight_decay).param_groups")
def groups(assignment: Any, shapes: list[list[int]], lr: float, weight_decay: float) -> dict[str, object]:
    """Return the optimizer options of each parameter of a model, and whether the optimizer is the student's AdamW."""
    model = nn.Module()
    model.inner = nn.ParameterList([nn.Parameter(torch.zeros(shape)) for shape in shapes[1:]])
    model.register_parameter("own", nn.Parameter(torch.zeros(shapes[0])))
    optimizer = assignment.language_model.make_optimizer(model, lr, weight_decay)

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
        super().__init__(model.parameters(), lr=lr)
        self.model = model

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Record the gradient, then update the tables."""
        grad = self.model.tables.grad
        self.model.events.append(["step", None if grad is None else grad.clone()])
        super().step()


@typed(
    "from tests.probes.language_model import Tables\n"
    "model = Tables(tables)\n"
    "model.tables.grad = before\n"
    "training_step(model, torch.optim.SGD(model.parameters(), lr=lr), batch, micro_batch_size, max_norm)\n"
    "model.tables"
)
def step(
    assignment: Any, tables: Tensor, before: Tensor, batch: Tensor, micro_batch_size: int, max_norm: float, lr: float
) -> dict[str, object]:
    """Take an SGD step, and return the loss and the events. `before` is the gradient before the step."""
    model = Tables(tables)
    model.tables.grad = before.clone()
    value = assignment.language_model.training_step(
        model, Recording(model, lr), batch.clone(), micro_batch_size, max_norm
    )
    return {
        "loss": value,
        "events": [event[:2] for event in model.events if event[0] != "step"],
        "steps": [event[1] for event in model.events if event[0] == "step"],
        "names": [event[0] for event in model.events],
    }


@typed(
    "from tests.probes.language_model import Product\n"
    "model = Product()\n"
    "training_step(model, torch.optim.SGD(model.parameters(), lr=0.1), batch, 2, 1.0, bfloat16)"
)
def precision(assignment: Any, batch: Tensor, bfloat16: bool) -> dict[str, object]:
    """Return the dtypes of a step's matrix products, and the dtypes of the parameters and gradients."""
    model = Product()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assignment.language_model.training_step(model, optimizer, batch, 2, 1.0, bfloat16)
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

    After each restart, torch's generator is in a different state, as in a new process.
    """
    with running(assignment, tokens, settings) as run:
        torch.manual_seed(1)
        through, reports = copy_weights(run.train()), run.reports
    with running(assignment, tokens, settings) as run:
        sessions = []
        for start, stop in enumerate([*stops, None]):
            torch.manual_seed(100 + start)
            run.reports = []
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
def learn(assignment: Any, tokens: Tensor, settings: dict[str, Any], windows: Tensor) -> Tensor:
    """Train, and return the logits for the token after each window."""
    with running(assignment, tokens, settings) as run:
        model = run.train()
        with torch.no_grad():
            scores: Tensor = model(windows)[:, -1]
    return scores


@typed(
    "from tests.probes.language_model import Tables\n"
    "generator = None if seed is None else torch.Generator().manual_seed(seed)\n"
    "generate(Tables(tables), prompt, n, temperature, generator)"
)
def generate(
    assignment: Any, tables: Tensor, prompt: Tensor, n: int, temperature: float, seed: int | None
) -> dict[str, object]:
    """Continue a prompt. Without a seed, no generator is passed."""
    model, given = Tables(tables), prompt.clone()
    state = torch.get_rng_state()
    more = () if seed is None else (torch.Generator().manual_seed(seed),)
    tokens = assignment.language_model.generate(model, given, n, temperature, *more)
    return {
        "tokens": tokens,
        "lengths": [length for _, _, length in model.events],
        "prompt": given,
        "global generator used": not torch.equal(state, torch.get_rng_state()),
        "builds graphs": model.builds_graphs,
    }


@typed(
    "from tests.probes.language_model import Tables\n"
    "[generate(Tables(tables), prompt, n, 1.0, torch.Generator().manual_seed(seed)) for n in lengths]"
)
def generate_each(
    assignment: Any, tables: Tensor, prompt: Tensor, lengths: list[int], seed: int, is_global: bool
) -> list[object]:
    """Continue a prompt by each number of tokens in `lengths`, from the same seed each time.

    If `is_global`, torch's global generator is seeded. Otherwise, a seeded generator is passed to the function.
    """
    found = []
    for n in lengths:
        generator = torch.default_generator if is_global else torch.Generator()
        generator.manual_seed(seed)
        more = () if is_global else (generator,)
        found.append(assignment.language_model.generate(Tables(tables), prompt.clone(), n, 1.0, *more))
    return found
