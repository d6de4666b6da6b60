"""Probes for the files of save_checkpoint and load_checkpoint: failing writes, and damaged or hostile files."""

import io
import os
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from . import checkpoint_code
from .attempts import refusal
from .checkpoint import build, copy_state, fit, save_and_read, spell, temporary_folder, temporary_path
from .cruncher import copy_weights, load
from .disasters import Failing, FileEvents, Moves, Payload, small_files_only


@typed(checkpoint_code.files)
def files(assignment: Any, name: str) -> dict[str, object]:
    """Save a checkpoint under the given name, and return the names of all files in the folder.

    Also return whether the checkpoint can be loaded, but not after this file alone has been moved ("depends").
    """
    with temporary_folder() as place:
        model, optimizer = build(assignment, [torch.ones(2, 1)])
        assignment.checkpoint.save_checkpoint(spell(assignment, place / name), model, optimizer, 1)
        found, path, moved = sorted(file.name for file in place.iterdir()), place / name, place / "elsewhere" / name
        if name not in found or refusal(lambda: load_into_new(assignment, path)):
            return {"files": found, "depends": []}
        moved.parent.mkdir()
        path.rename(moved)
        return {"files": found, "depends": refusal(lambda: load_into_new(assignment, moved))}


def load_into_new(assignment: Any, path: Path) -> int:
    """Load a checkpoint into a new small model and its optimizer."""
    return int(assignment.checkpoint.load_checkpoint(spell(assignment, path), *build(assignment, [torch.ones(2, 1)])))


@typed(checkpoint_code.failing_save)
def failing_save(assignment: Any, weights: list[Tensor]) -> dict[str, object]:
    """Save the given weights, make a second save with other weights fail halfway, and load the file.

    The second save fails because the disk is full or, on Windows, because the model cannot be pickled.
    """
    with temporary_path(assignment) as path:
        model, optimizer = build(assignment, weights)
        content = save_and_read(assignment, path, model, optimizer, 7)
        assignment.checkpoint.load_checkpoint(path, *build(assignment, weights, 2.0))  # if it can't be loaded, say why
        load(model, [weight + 1 for weight in weights])
        second = Failing(model) if sys.platform == "win32" else model
        with small_files_only(len(content) // 2):
            raised = refusal(lambda: assignment.checkpoint.save_checkpoint(path, second, optimizer, 8))
        other, other_optimizer = build(assignment, weights, 2.0)
        unreadable = refusal(lambda: assignment.checkpoint.load_checkpoint(path, other, other_optimizer))
    return {"raised": raised, "unreadable": unreadable, "loaded": copy_weights(other)}


@typed(checkpoint_code.moves())
def moves(assignment: Any, dim: int) -> dict[str, Any]:
    """Overwrite a checkpoint in a folder that also contains other files.

    Return whether a file was moved to the path ("moved"), namely from the same folder or a subfolder ("replaced"), the
    event that removed the old file, or "" ("removed"), and the names of other files that changed ("changed").
    """
    with temporary_folder() as place:
        runs, elsewhere = place / "runs", place / "elsewhere"
        runs.mkdir()
        elsewhere.mkdir()
        path = Path(os.path.realpath(runs)) / "run.pt"
        spelled = spell(assignment, path)
        FileEvents.listen(str(runs))
        model, optimizer = build(assignment, [torch.ones(dim, dim), torch.ones(dim, 1)])
        here = Path.cwd()
        try:
            os.chdir(elsewhere)
            assignment.checkpoint.save_checkpoint(type(spelled)("bare-name.pt"), model, optimizer, 1)
            save_and_read(assignment, spelled, model, optimizer, 1)
            older = path.stat().st_ino
            others = [path.with_suffix(suffix) for suffix in checkpoint_code.OTHERS]
            for other in others:
                other.write_bytes(b"another file")
            FileEvents.notes = []
            assignment.checkpoint.save_checkpoint(spelled, model, optimizer, 2)
            notes, FileEvents.notes = FileEvents.notes, None
            changed = [other.name for other in others if not other.exists() or other.read_bytes() != b"another file"]
            newer = path.stat().st_ino  # student code can forge the notes, but a new file has a new inode
        finally:
            os.chdir(here)
        renames = [note[1:] for note in notes if note[0] == "os.rename"]
        sources = [source for source, to in renames if to == str(path)]
        return {
            "moved": bool(sources),
            "replaced": newer != older and any(Path(source).is_relative_to(path.parent) for source in sources),
            "removed": next((note[0] for note in notes if note[1] == str(path)), ""),
            "changed": changed,
        }


@typed(checkpoint_code.hostile_file)
def hostile_file(assignment: Any, dim: int, written_by: str) -> bool:
    """Return whether loading a malicious file executed its code."""
    with temporary_folder() as place:
        path, honest = (spell(assignment, place / name) for name in ("run.pt", "honest.pt"))
        mark = place / "it-ran"
        content = {"model": Payload(str(mark)), "optimizer": {}, "step": 1}
        if written_by == "torch":
            torch.save(content, path)
        else:
            Path(path).write_bytes(pickle.dumps(content))
        model, optimizer = build(assignment, [torch.ones(dim, dim), torch.ones(dim, 1)])
        save_and_read(assignment, honest, model, optimizer, 1)
        assignment.checkpoint.load_checkpoint(honest, model, optimizer)
        refusal(lambda: assignment.checkpoint.load_checkpoint(path, model, optimizer))
        return mark.exists()


@typed(checkpoint_code.from_elsewhere)
def from_elsewhere(assignment: Any, weights: list[Tensor]) -> dict[str, object]:
    """Load a checkpoint whose tensors are marked as having been saved on a GPU.

    The file is saved on the CPU, and then its device tag is rewritten. Nothing is rewritten if the student's code
    moves every tensor to the CPU before saving, or if the file is not a torch archive.
    """
    with temporary_folder() as place:
        path = spell(assignment, place / "run.pt")
        model, optimizer = build(assignment, weights)
        with Moves() as moves:
            content = save_and_read(assignment, path, model, optimizer, 1)
        assignment.checkpoint.load_checkpoint(path, *build(assignment, weights, 1.0))  # if it can't be loaded, say why
        if not moves.seen and content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(path, "w") as target:
                for name in source.namelist():
                    content = source.read(name)
                    if name.endswith("data.pkl"):
                        content = content.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
                    target.writestr(name, content)
        other, other_optimizer = build(assignment, weights, 1.0)
        raised = refusal(lambda: assignment.checkpoint.load_checkpoint(path, other, other_optimizer, device="cpu"))
        devices = sorted({p.device.type for p in other.parameters()})
    return {"raised": raised, "loaded": copy_weights(other), "devices": devices}


@typed(checkpoint_code.truncated)
def truncated(
    assignment: Any, weights: list[Tensor], xs: list[Tensor], ys: list[Tensor], part: float
) -> dict[str, object]:
    """Load a file that is truncated to the fraction `part` of its size, into a model with the given weights."""
    with temporary_path(assignment) as path:
        model, optimizer = build(assignment, weights, 1.0)
        fit(model, optimizer, xs, ys)
        content = save_and_read(assignment, path, model, optimizer, 1)
        other, other_optimizer = build(assignment, weights, 2.0)
        assignment.checkpoint.load_checkpoint(path, other, other_optimizer)
        fit(other, other_optimizer, xs[:1], ys[:1])
        load(other, weights)
        Path(path).write_bytes(content[: min(int(len(content) * part), len(content) - 1)])
        before = {"weights": copy_weights(other), "optimizer": copy_state(other_optimizer)}
        raised = refusal(lambda: assignment.checkpoint.load_checkpoint(path, other, other_optimizer))
        after = {"weights": copy_weights(other), "optimizer": copy_state(other_optimizer)}
    return {"raised": raised, "before": before, "after": after}
