"""`kata reset`: the untouched stub of a kata again, the student's file kept beside it."""

from pathlib import Path

from ..course import Kata, course
from ..languages import words
from ..state import load, store, write_whole
from .terminal import CallError, say

STUBS = "reference/stubs"  # of a handout: made by `grader release`


def reset(kata: Kata, *, asked: bool) -> None:
    """Put the stub back, after a question unless it was `asked`. Raises CallError where no stubs are kept."""
    kept, file = course().root / STUBS / f"{kata.name}.py", course().assignment / f"{kata.name}.py"
    if not kept.is_file():
        raise CallError(words("reset.none"))
    stub = kept.read_bytes()
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        write_whole(file, stub)
        say("reset.restored", kata=kata.name)
    elif (own := file.read_bytes()) == stub:
        say("reset.same", kata=kata.name)
    else:
        backup = free_name(file)
        if not asked and not agreed(words("reset.ask", kata=kata.name, backup=f"assignment/{backup.name}")):
            say("reset.kept")
            return
        write_whole(backup, own)
        write_whole(file, stub)
        say("reset.done", kata=kata.name, backup=f"assignment/{backup.name}")
    store(load().without(kata.name))


def free_name(file: Path) -> Path:
    """`linear.py.bak`, or with a number: no older backup is written over, and none is taken for a module."""
    names = [file.with_name(f"{file.name}.bak")]
    while names[-1].exists():
        names.append(file.with_name(f"{file.name}.bak{len(names) + 1}"))
    return names[-1]


def agreed(question: str) -> bool:
    """Whether the answer is yes; nobody there to answer is a no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
