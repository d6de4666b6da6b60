"""`kata hint`: prints the hints of a kata, revealing one more each time."""

from torchkata.course import Kata
from torchkata.i18n import _, count_columns
from torchkata.i18n.katas import hints_of, title_of
from torchkata.pytest_plugin.history import load_state, store_state

from .terminal import paint, print_wrapped, say


def show(kata: Kata) -> None:
    """Print one more hint than last time."""
    state = load_state()
    hints = hints_of(kata)
    shown = min(state.hints.get(kata.name, 0) + 1, len(hints))
    print(paint(_("{kata} · {title}", kata=kata.name, title=title_of(kata)), "bold"))
    for number, text in enumerate(hints[:shown], start=1):
        label = _("  hint {number} of {all}   ", number=number, all=len(hints))
        print_wrapped(label + text, count_columns(label))
    say("  more: kata hint {kata}" if shown < len(hints) else "  that was the last hint", kata=kata.name)
    state.hints[kata.name] = shown
    try:
        store_state(state)
    except OSError as error:
        print(_("kata: your progress could not be saved ({error})", error=error.strerror))
