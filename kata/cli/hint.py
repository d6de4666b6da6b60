"""`kata hint`: the hints of a kata up to the next one that was not shown yet."""

from ..catalog import Kata
from ..state import load, store
from .terminal import paint, say
from .words import words


def show(kata: Kata) -> None:
    """Print one hint more than last time. Raises OSError where that can't be remembered."""
    state = load()
    shown = min(state.hints.get(kata.name, 0) + 1, len(kata.hints))
    print(paint(words("hint.heading", kata=kata.name, title=kata.title), "bold"))
    for number, text in enumerate(kata.hints[:shown], start=1):
        say("hint.one", number=number, all=len(kata.hints), text=text)
    if shown < len(kata.hints):
        say("hint.more", kata=kata.name)
    else:
        say("hint.last")
    store(state.with_hints(kata.name, shown))
