"""`kata hint`: the hints of a kata up to the next one that was not shown yet."""

from torchkata.course import Kata
from torchkata.i18n import columns, words
from torchkata.i18n.katas import hints_of, title_of
from torchkata.pytest_plugin.history import load_state, store_state

from .terminal import paint, say, tell


def show(kata: Kata) -> None:
    """Print one hint more than last time. Raises OSError where that can't be remembered."""
    state = load_state()
    hints = hints_of(kata)
    shown = min(state.hints.get(kata.name, 0) + 1, len(hints))
    print(paint(words("hint.heading", kata=kata.name, title=title_of(kata)), "bold"))
    for number, text in enumerate(hints[:shown], start=1):
        label = words("hint.one", number=number, all=len(hints))
        tell(label + text, columns(label))
    if shown < len(hints):
        say("hint.more", kata=kata.name)
    else:
        say("hint.last")
    state.hints[kata.name] = shown
    store_state(state)
