"""Runs the student's `train_lm` in a temporary folder, and records its calls to functions of earlier katas."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Killed(BaseException):
    """Raised to end a run as if its process had been killed."""


class Run:
    """A training run in a temporary folder, with a record of its calls to functions of earlier katas."""

    def __init__(self, assignment: Any, folder: Path, tokens: Tensor, settings: dict[str, Any]) -> None:
        self.assignment, self.folder = assignment, folder
        self.process = 0
        self.used: set[str] = set()
        self.batches: list[Tensor] = []
        self.seeds: list[int] = []  # torch's seed before each batch
        self.sizes: list[list[Any]] = []
        self.saves: list[int] = []
        self.reported_before_saved: list[int] = []
        self.rates: list[list[float]] = []
        self.reports: list[list[Any]] = []
        assignment.memmap_tokens.save_tokens(folder / "tokens.bin", tokens.numpy())
        self.settings = assignment.train_language_model.Settings(**settings)
        self.out = folder / "run.pt"

    def train(self, stop: int | None = None) -> Any:
        """Train, or resume training. Stop after step `stop` is reported, as if the process had been killed."""

        def report(step: int, value: float) -> None:
            self.reports.append([step, value])
            if step == stop:
                raise Killed

        try:
            with self.recording():
                own = self.assignment.train_language_model
                vars(own).setdefault("hash", self.hash)
                return own.train_lm(self.folder / "tokens.bin", self.out, self.settings, report)
        except Killed:
            return None

    def hash(self, value: Any) -> int:
        """Return a hash that differs in each process if the value contains a string, like Python's `hash`."""
        if "'" not in repr(value):
            return hash(value)
        self.used.add("hash")
        return hash((value, self.process))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record all calls to functions of earlier katas while this context is active."""
        names = ("get_batch", "checkpoint", "adamw", "memmap_tokens", "language_model")
        modules = [getattr(self.assignment, name) for name in names]
        own = [dict(vars(module)) for module in modules]
        record = self

        def load_tokens(path: Any) -> Any:
            record.used.add("load_tokens")
            return own[3]["load_tokens"](path)

        def load_checkpoint(*args: Any, **options: Any) -> int:
            record.used.add("load_checkpoint")
            step: int = own[1]["load_checkpoint"](*args, **options)
            return step

        def get_batch(data: Any, batch_size: int, sequence_length: int, device: Any = "cpu") -> Tensor:
            record.seeds.append(torch.initial_seed())
            batch: Tensor = own[0]["get_batch"](data, batch_size, sequence_length, device)
            record.sizes.append([len(data), batch_size, sequence_length])
            record.batches.append(batch.clone())
            return batch

        def save_checkpoint(path: Any, model: Any, optimizer: Any, step: int) -> None:
            own[1]["save_checkpoint"](path, model, optimizer, step)
            record.saves.append(step)
            if len(record.reports) == len(record.rates):  # the step that has just been taken
                record.reported_before_saved.append(step)

        class AdamW(own[2]["AdamW"]):  # type: ignore[misc]
            def step(self, *closure: Any) -> Any:  # a correct AdamW may lack the parameter `closure`
                record.rates.append([group["lr"] for group in self.param_groups if group["params"]])
                return super().step(*closure)

        class LanguageModel(own[4]["LanguageModel"]):  # type: ignore[misc]
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                self.vector = nn.Parameter(torch.zeros(1))  # so that two groups of the optimizer have parameters

        modules[0].get_batch, modules[2].AdamW, modules[3].load_tokens = get_batch, AdamW, load_tokens
        modules[4].LanguageModel = LanguageModel
        modules[1].save_checkpoint, modules[1].load_checkpoint = save_checkpoint, load_checkpoint
        del self.assignment.train_language_model  # the module has imported the functions
        try:
            yield
        finally:
            for module, content in zip(modules, own, strict=True):
                vars(module).update(content)
            del self.assignment.train_language_model


@contextmanager
def running(assignment: Any, tokens: Tensor, settings: dict[str, Any]) -> Iterator[Run]:
    """Prepare a run in a temporary folder."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield Run(assignment, Path(name), tokens, settings)


def copy_weights(model: Any) -> dict[str, Tensor]:
    """Return a copy of the model's state."""
    return {key: value.clone() for key, value in model.state_dict().items()}
