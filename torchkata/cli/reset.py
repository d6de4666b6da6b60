"""`kata reset`: the untouched stub of a kata again, the student's file kept beside it."""

from torchkata.course import Kata, course
from torchkata.course.handout import free_name, stub_of
from torchkata.i18n import words
from torchkata.pytest_plugin.history import load_state, store_state, write_atomically

from .terminal import CallError, say


def reset(kata: Kata, *, asked: bool) -> None:
    """Put the stub back, after a question unless it was `asked`. Raises CallError where no stubs are kept."""
    kept, file = course().root / stub_of(kata.name), course().assignment / f"{kata.name}.py"
    if not kept.is_file():
        raise CallError(words("reset.none"))
    stub = kept.read_bytes()
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, stub)
        say("reset.restored", kata=kata.name)
    elif (own := file.read_bytes()) == stub:
        say("reset.same", kata=kata.name)
    else:
        backup = free_name(file)
        if not asked and not agreed(words("reset.ask", kata=kata.name, backup=f"assignment/{backup.name}")):
            say("reset.kept")
            return
        write_atomically(backup, own)
        write_atomically(file, stub)
        say("reset.done", kata=kata.name, backup=f"assignment/{backup.name}")
    state = load_state()
    state.runs.pop(kata.name, None)
    state.hints.pop(kata.name, None)
    store_state(state)


def agreed(question: str) -> bool:
    """Whether the answer is yes; nobody there to answer is a no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
