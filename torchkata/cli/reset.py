"""`kata reset`: restores the original stub of a kata, and keeps the student's file as a backup."""

from torchkata.course import Kata, course
from torchkata.course.handout import free_name, stub_of
from torchkata.files import write_atomically
from torchkata.i18n import _
from torchkata.pytest_plugin.history import load_state, store_state

from .terminal import UsageError, say


def reset(kata: Kata, *, confirmed: bool) -> None:
    """Restore the stub. Ask first unless `confirmed`. Raises UsageError if there are no original stubs."""
    original, file = course().root / stub_of(kata.name), course().assignment / f"{kata.name}.py"
    if not original.is_file():
        raise UsageError(_("the original stubs are missing: they are part of the handout (reference/stubs/)"))
    stub = original.read_bytes()
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        write_atomically(file, stub)
        say("assignment/{kata}.py was missing: restored the original stub", kata=kata.name)
    elif (edited := file.read_bytes()) == stub:
        say("assignment/{kata}.py is already the original stub", kata=kata.name)
    else:
        backup = free_name(file)
        names = {"kata": kata.name, "backup": f"assignment/{backup.name}"}
        question = _("Restore the original stub of {kata}? Your file will be saved as {backup}. [y/N] ", **names)
        if not confirmed and not confirm(question):
            say("Nothing was changed.")
            return
        write_atomically(backup, edited)
        write_atomically(file, stub)
        say("assignment/{kata}.py is the original stub again; your file is saved as {backup}", **names)
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
