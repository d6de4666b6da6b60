"""Finds files that may be a kata under another name, such as `Linear.py`, `linear (1).py` and `linear.ipynb`."""

import re
from collections.abc import Collection, Iterable

from torchkata.course import course

ENDING = re.compile(r"\.(?:pyw?|ipynb|txt|docx?|bak|orig)(?!\w)")  # also twice, as in `linear.py.txt`


def find_near_misses(katas: Collection[str], names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that browsers, platforms or authors may have given to the files of these katas, by kata."""
    found: dict[str, list[str]] = {}
    for name in sorted({*names}):
        kata = guess_kata(name)
        if kata and kata in katas and name != f"{kata}.py":
            found.setdefault(kata, []).append(name)
    return found


def list_near_misses(kata: str) -> list[str]:
    """Return the files in `assignment/` that may be this kata under another name, except backups of `kata reset`."""
    names = [path.name for path in course().assignment.glob("*") if ".bak" not in path.suffix]
    return find_near_misses([kata], names).get(kata, [])


def guess_kata(name: str) -> str | None:
    """Return the kata that a file may belong to: the longest one that its name begins or ends with."""
    lower = name.casefold()
    if lower.startswith((".", "test_")) or ("." in lower and not ENDING.search(lower)):
        return None
    words = re.sub(r"[^a-z0-9]+", "_", ENDING.sub(" ", lower)).strip("_")
    found = [kata for kata in course().katas if begins_or_ends_with(words, kata.casefold())]
    return max(found, key=len, default=None)


def begins_or_ends_with(words: str, kata: str) -> bool:
    """Return whether words that are joined by underscores begin or end with a kata, or are a kata and digits."""
    rest = words.removeprefix(kata)
    return words.endswith(f"_{kata}") or (words.startswith(kata) and (not rest.strip("0123456789") or rest[0] == "_"))
