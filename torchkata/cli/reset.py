"""`kata reset`: restores the original stub of a kata, and keeps the student's file as a backup."""

from torchkata.course import Kata, course
from torchkata.course.handout import free_name, stub_of
from torchkata.files import write_atomically
from torchkata.i18n import words
from torchkata.pytest_plugin.history import load_state, store_state

from .terminal import UsageError, say


def reset(kata: Kata, *, confirmed: bool) -> None:
    """Restore the stub. Ask first unless `confirmed`. Raises UsageError if there are no original stubs."""
    original, file = course().root / stub_of(kata.name), course().assignment / f"{kata.name}.py"
    if not original.is_file():
        raise UsageError(words("reset.none"))
    stub = original.read_bytes()
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, stub)
        say("reset.restored", kata=kata.name)
    elif (edited := file.read_bytes()) == stub:
        say("reset.same", kata=kata.name)
    else:
        backup = free_name(file)
        if not confirmed and not confirm(words("reset.ask", kata=kata.name, backup=f"assignment/{backup.name}")):
            say("reset.kept")
            return
        write_atomically(backup, edited)
        write_atomically(file, stub)
        say("reset.done", kata=kata.name, backup=f"assignment/{backup.name}")
    state = load_state()
    state.runs.pop(kata.name, None)
    state.hints.pop(kata.name, None)
    store_state(state)


def confirm(question: str) -> bool:
    """Ask a question and return whether the answer is yes. The end of input means no."""
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False
