"""Prints the text that the student's model writes, letter by letter."""

import time
from codecs import getincrementaldecoder
from typing import Any

import torch

from reference.generate_text.training_run import Speaker

PROMPT = b"def "
COLUMNS = 88
MARGIN = "  │ "
TAB = 4  # number of spaces that a tab is shown as


class Page:
    """Prints letters one by one, and breaks lines that are too long. Other characters are shown as dots."""

    def __init__(self) -> None:
        self.column = 0
        print(MARGIN, end="", flush=True)

    def add(self, text: str) -> None:
        """Print these letters."""
        for letter in text.replace("\t", TAB * " "):
            if letter == "\n" or self.column == COLUMNS:
                print(f"\n{MARGIN}", end="")
                self.column = 0
            if letter != "\n":
                print(letter if letter.isprintable() and letter != "\ufffd" else "·", end="", flush=True)
                self.column += 1


def write(speaker: Speaker, device: str, model: Any, letters: int) -> float:
    """Print a prompt and the letters that the model adds to it, and return the seconds that one letter takes.

    Stop at the deadline. Each call of the student's `generate` draws one letter, so that it can be printed at once.
    """
    tokens, generator = torch.tensor([*PROMPT], device=device), torch.Generator(device).manual_seed(0)
    decoder, page, start, written = getincrementaldecoder("utf-8")("replace"), Page(), time.monotonic(), 0
    page.add(decoder.decode(PROMPT))
    while written < letters and time.monotonic() < speaker.deadline:
        tokens = speaker.assignment.generate_text.generate(model, tokens, 1, 0.8, generator)
        page.add(decoder.decode(bytes([int(tokens[-1]) % 256])))
        written += 1
    print("" if written == letters else " …", flush=True)
    return (time.monotonic() - start) / max(1, written)
