"""A training run of `kata speak`, which is stored in a folder, and the student's code and the files that it uses."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch


class Stopped(Exception):
    """Raised by the `report` callback to leave the student's training loop."""


@dataclass
class Run:
    """A training run: its settings and threads, its predicted cost, and the number, loss and duration of each step."""

    settings: dict[str, Any]
    predicted: dict[str, float] = field(default_factory=dict)
    steps: list[tuple[int, float, float]] = field(default_factory=list)
    threads: int = 1

    def save(self, folder: Path) -> None:
        """Replace `run.json` atomically."""
        part = folder / "run.json.part"
        part.write_text(json.dumps(asdict(self)), "utf-8")
        part.replace(folder / "run.json")


@dataclass
class Speaker:
    """The student's code, the texts, the files and the deadline that a call of `kata speak` uses."""

    assignment: Any
    texts: Mapping[str, str]
    folder: Path
    deadline: float  # the value of `time.monotonic` when the time is up

    @property
    def tokens(self) -> Path:
        """The path of the file that contains the tokens."""
        return self.folder / "tokens.bin"

    @property
    def checkpoint(self) -> Path:
        """The path of the last checkpoint."""
        return self.folder / "checkpoint.pt"

    def build(self, run: Run) -> tuple[Any, Any]:
        """Return a new model and its optimizer."""
        katas, settings = self.assignment, run.settings
        torch.manual_seed(0)
        model = katas.language_model.LanguageModel(256, settings["dim"], settings["num_layers"], settings["context"])
        model = model.to(settings["device"])
        return model, katas.train_language_model.make_optimizer(model, settings["peak_lr"], 0.1)

    def load(self, run: Run) -> tuple[Any, Any, int]:
        """Return the model, optimizer and step of the last checkpoint, or new objects and step 0 if there is none."""
        model, optimizer = self.build(run)
        if not self.checkpoint.exists():
            return model, optimizer, 0
        load_checkpoint = self.assignment.checkpoint.load_checkpoint
        with self.reading(self.checkpoint):
            step = load_checkpoint(self.checkpoint, model, optimizer, run.settings["device"])
        return model, optimizer, step

    @contextmanager
    def reading(self, file: Path) -> Iterator[None]:
        """Raise SystemExit if the code in the `with` block fails to read this file."""
        try:
            yield
        except NotImplementedError:
            raise
        except Exception as error:
            raise self.refuse("corrupt", file=file, error=type(error).__name__) from None

    def train(self, run: Run, out: Path, report: Any, **changes: Any) -> None:
        """Call the student's `train_lm` until it returns, or until `report` raises Stopped."""
        kata = self.assignment.train_language_model
        with suppress(Stopped):
            kata.train_lm(self.tokens, out, kata.Settings(**run.settings | changes), report)

    def refuse(self, key: str, **values: object) -> SystemExit:
        """Return a SystemExit that ends the command with the given message."""
        return SystemExit(self.texts[key].format(folder=self.folder, **values))

    def positive(self, name: str, value: Any) -> float:
        """Return the result of the student's function `name`. Raises SystemExit if it is not a positive number."""
        if isinstance(value, (int, float)) and 0 < value < math.inf:
            return value
        raise self.refuse("not_positive", name=name, value=value)
