"""`docs/katas.md` with the sections of some katas only."""

import re
from collections.abc import Container

TRACK = re.compile(r"^(?=## )", re.MULTILINE)
KATA = re.compile(r"^(?=### )", re.MULTILINE)
NAME = re.compile(r"### (\w+)")


def with_sections(text: str, katas: Container[str]) -> str:
    """The text without the sections of other katas, and without tracks that are empty then."""
    introduction, *tracks = TRACK.split(text)
    made = introduction
    for heading, *sections in map(KATA.split, tracks):
        chosen = [section for section in sections if NAME.findall(section)[0] in katas]
        if chosen:
            made += "".join([heading, *chosen])
    return made.rstrip() + "\n"
