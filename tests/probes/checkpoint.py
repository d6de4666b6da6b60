"""Probes for save_checkpoint and load_checkpoint: resumed runs, and what is saved and loaded."""

import copy
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from torchkata import Text, typed

from . import checkpoint_code
from .attempts import refusal
from .cruncher import build_model, copy_weights, load


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a temporary directory for one probe."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def temporary_path(assignment: Any) -> Iterator[str | Path]:
    """Yield a path in a temporary directory: a str, or a Path if save_checkpoint does not accept a str.

    Only one test asks for both.
    """
    with temporary_folder() as place:
        yield spell(assignment, place / "run.pt")


def spell(assignment: Any, path: Path) -> str | Path:
    """Return the path as a str, or unchanged if save_checkpoint does not accept a str."""
    model = nn.Linear(1, 1)
    with temporary_folder() as place:
        try:
            assignment.checkpoint.save_checkpoint(str(place / "a"), model, torch.optim.Adagrad(model.parameters()), 1)
        except (AttributeError, TypeError):
            return path
    return str(path)


def build(assignment: Any, weights: Sequence[Tensor], change: float = 0.0) -> tuple[Any, Any]:
    """Build a model with `weights + change` and an AdaGrad optimizer for it."""
    model = build_model(assignment, [weight + change for weight in weights])
    return model, assignment.adagrad.AdaGrad(model.parameters(), lr=0.1)


def fit(model: Any, optimizer: Any, xs: Sequence[Tensor], ys: Sequence[Tensor]) -> list[float]:
    """Take one step per batch and return the losses. Raises RuntimeError if a parameter is frozen."""
    for name, p in model.named_parameters():
        if not p.requires_grad:
            raise RuntimeError(Text("{name} has requires_grad=False, so training can't continue", name=name))
    losses = []
    for x, y in zip(xs, ys, strict=True):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_trained(assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor]) -> tuple[Any, Any]:
    """Return a model with the given weights, and an optimizer whose state comes from training on the batches."""
    model, optimizer = build(assignment, weights)
    fit(model, optimizer, xs, ys)
    load(model, weights)
    return model, optimizer


def save_and_read(assignment: Any, path: str | Path, model: Any, optimizer: Any, step: int) -> bytes:
    """Save a checkpoint and return the file's bytes. Raises FileNotFoundError if there is no file."""
    assignment.checkpoint.save_checkpoint(path, model, optimizer, step)
    if not Path(path).exists():
        raise FileNotFoundError(Text("save_checkpoint returned, but there is no file at path"))
    return Path(path).read_bytes()


def copy_state(optimizer: Any) -> list[dict[str, Any]]:
    """Return a copy of the optimizer's state for each parameter."""
    kept = [optimizer.state.get(p, {}) for group in optimizer.param_groups for p in group["params"]]
    return [{k: v.clone() if isinstance(v, Tensor) else v for k, v in state.items()} for state in kept]


@typed(checkpoint_code.resume)
def resume(
    assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor], stop: int, step: int
) -> dict[str, object]:
    """Save a run that has the given weights after `stop` steps, then finish it with the same objects and with new ones.

    Also return the runs that would result if parts of the optimizer's state were lost ("runs"), and for each weight
    and each tensor of the optimizer's state, whether the file contains its bytes ("found").
    """
    with temporary_path(assignment) as path:
        model, optimizer = build_trained(assignment, weights, xs[:stop], ys[:stop])
        optimizer.param_groups[0]["lr"] = 0.05  # as a learning rate scheduler would
        content = save_and_read(assignment, path, model, optimizer, step)
        memory, state = copy_state(optimizer), copy.deepcopy(optimizer.state_dict())

        def rest(model: Any, optimizer: Any) -> dict[str, object]:
            return {"losses": fit(model, optimizer, xs[stop:], ys[stop:]), "weights": copy_weights(model)}

        def rest_at(rate: float, state: dict[str, Any] | None = None) -> dict[str, object]:
            model, optimizer = build(assignment, weights)
            if state is not None:
                optimizer.load_state_dict(state)
            optimizer.param_groups[0]["lr"] = rate
            return rest(model, optimizer)

        through = rest(model, optimizer)
        other, other_optimizer = build(assignment, weights, 1.0)
        assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
        loaded_weights = copy_weights(other)
        resumed = rest(other, other_optimizer)
    remembered = [value for kept in memory for value in kept.values() if isinstance(value, Tensor) and value.any()]
    return {
        "resumed": resumed,
        "loaded": loaded_weights,
        "runs": {
            "through": through,
            "a new optimizer": rest_at(0.1),
            "empty state": rest_at(0.05),
            "initial lr": rest_at(0.1, state),
            "zero lr": rest_at(0.0),
        },
        "found": {
            "weights": [weight.numpy().tobytes() in content for weight in weights],
            "state": [value.numpy().tobytes() in content for value in remembered],
        },
    }


@typed(checkpoint_code.save_and_load)
def returned_step(assignment: Any, step: int, as_path: bool) -> object:
    """Save and load a model whose path is a Path or a str, and return the result of load_checkpoint."""
    with temporary_folder() as place:
        path = place / "run.pt" if as_path else str(place / "run.pt")
        model, optimizer = build_trained(assignment, [torch.ones(2, 1)], [torch.ones(1, 2)], [torch.ones(1)])
        save_and_read(assignment, path, model, optimizer, step)
        return assignment.checkpoint.load_checkpoint(path, model, optimizer)


@typed(lambda as_path: checkpoint_code.save_and_load(0, as_path))
def zero_step_refusal(assignment: Any, as_path: bool) -> list[str]:
    """Return the class names of the error raised if the step is 0 (see `refusal`). A step of 3 must cause none."""
    returned_step(assignment, 3, as_path)
    return refusal(lambda: returned_step(assignment, 0, as_path))


@typed(checkpoint_code.around_saving)
def around_saving(
    assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor], training: bool
) -> dict[str, object]:
    """Return the state of a model and its optimizer before and after saving."""
    with temporary_path(assignment) as path:
        model, optimizer = build_trained(assignment, weights, xs, ys)
        model.train(training)

        def look() -> dict[str, object]:
            return {
                "weights": copy_weights(model),
                "gradients": [None if p.grad is None else p.grad.clone() for p in model.parameters()],
                "requires_grad": [p.requires_grad for p in model.parameters()],
                "training": model.training,
                "state": copy_state(optimizer),
            }

        before = look()
        save_and_read(assignment, path, model, optimizer, 1)
        return {"before": before, "after": look()}


@typed(checkpoint_code.trained_on)
def trained_on(
    assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor], training: bool
) -> dict[str, object]:
    """Save a model, train it further, and load the checkpoint into a new model, which is in eval mode or training mode.

    The saved model is in training mode.
    """
    with temporary_path(assignment) as path:
        model, optimizer = build_trained(assignment, weights, xs, ys)
        save_and_read(assignment, path, model, optimizer, 1)
        fit(model, optimizer, xs, ys)
        other, other_optimizer = build(assignment, weights, 1.0)
        other.train(training)
        assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
    return {
        "loaded": copy_weights(other),
        "later": copy_weights(model),
        "gradients": sum(p.grad is not None for p in other.parameters()),
        "training": other.training,
    }


@typed(checkpoint_code.requires_grad)
def requires_grad(assignment: Any, weights: list[Tensor], frozen: int) -> dict[str, list[bool]]:
    """Return each parameter's `requires_grad` after saving and after loading. Both models freeze parameter `frozen`."""
    with temporary_path(assignment) as path:
        pairs = [build(assignment, weights), build(assignment, weights, 1.0)]
        for model, _ in pairs:
            list(model.parameters())[frozen].requires_grad_(False)
        (model, optimizer), (other, other_optimizer) = pairs
        assignment.checkpoint.save_checkpoint(path, model, optimizer, 1)
        assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
    return {
        "saving": [p.requires_grad for p in model.parameters()],
        "loading": [p.requires_grad for p in other.parameters()],
    }


@typed(checkpoint_code.special_values)
def special_values(assignment: Any, weights: list[Tensor], dtype: str) -> dict[str, object]:
    """Save and load a model that has the given weights and a buffer of the given dtype."""
    with temporary_path(assignment) as path:
        models = []
        for values in (weights, [torch.zeros_like(weight) for weight in weights]):
            model = build_model(assignment, values).to(getattr(torch, dtype))
            load(model, values)
            model.register_buffer("average", values[0].to(getattr(torch, dtype)))
            models.append((model, assignment.adagrad.AdaGrad(model.parameters(), lr=0.1)))
        (model, optimizer), (other, other_optimizer) = models
        save_and_read(assignment, path, model, optimizer, 1)
        assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
    return {"loaded": copy_weights(other), "buffer": other.average}


@typed(checkpoint_code.without_each_key)
def without_each_key(assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor]) -> dict[str, Any]:
    """Load a checkpoint, and then copies of the checkpoint, each of which lacks one top-level key.

    Return the state restored from the complete file ("complete"), and for each key that is not required, the state
    restored without the key ("partial"). No keys are tried if the file is anything but a dict saved by torch.
    """
    with temporary_path(assignment) as path:
        model, optimizer = build_trained(assignment, weights, xs, ys)
        save_and_read(assignment, path, model, optimizer, 1234567)

        def restore() -> dict[str, object]:
            other, other_optimizer = build(assignment, weights, 1.0)
            step = assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
            return {"step": step, "weights": copy_weights(other), "optimizer": copy_state(other_optimizer)}

        complete, partial = restore(), {}
        try:
            content = torch.load(path, weights_only=True)
            torch.save(dict(content), path)
            restore()
        except Exception:
            return {"complete": complete, "partial": {}}
        for key in content:
            torch.save({other: value for other, value in content.items() if other != key}, path)
            with suppress(Exception):
                partial[str(key)] = restore()
    return {"complete": complete, "partial": partial}


@typed(checkpoint_code.load_mismatch)
def load_mismatch(assignment: Any, saved: dict[str, list[int]], other_model: dict[str, list[int]]) -> list[str]:
    """Save a model with the given parameter names and shapes, and load it into another. The optimizer fits both."""
    with temporary_path(assignment) as path:
        models = []
        for shapes in (saved, other_model):
            model = nn.Module()
            for name, shape in shapes.items():
                model.register_parameter(name, nn.Parameter(torch.ones(shape)))
            models.append((model, assignment.adagrad.AdaGrad([nn.Parameter(torch.ones(2))], lr=0.1)))
        (model, optimizer), (other, other_optimizer) = models
        save_and_read(assignment, path, model, optimizer, 1)
        assignment.checkpoint.load_checkpoint(path, model, optimizer)
        return refusal(lambda: assignment.checkpoint.load_checkpoint(path, other, other_optimizer))
