"""`catalog.toml` with some of its katas only."""

import re
import tomllib
from collections.abc import Container, Sequence
from typing import Any

from grader.errors import GraderError

HEADING = "# The katas of this handout: tracks, titles, hints, and the tests with their points.\n\n"
ENTRY = re.compile(r"^(?=\[\[)", re.MULTILINE)


def with_only(text: str, katas: Sequence[str], workloads: Sequence[str]) -> str:
    """The text without other katas and workloads, tracks that are empty then, and the instructor's comments.

    Raises GraderError where the text can't be cut up at its headings.
    """
    whole = tomllib.loads(text)
    tracks = {kata["track"] for kata in whole["kata"] if kata["name"] in katas}
    chosen: dict[str, Container[str]] = {"track": tracks, "kata": katas, "workload": workloads}
    written = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    first, *entries = ENTRY.split(written)
    try:
        kept = [entry for entry in entries if is_chosen(tomllib.loads(entry), chosen)]
    except tomllib.TOMLDecodeError:
        kept = []
    made = HEADING + "\n".join(part.strip() + "\n" for part in (first, *kept))
    expected = whole | {kind: [one for one in whole[kind] if one["name"] in names] for kind, names in chosen.items()}
    if {"workload": [], **tomllib.loads(made)} != expected:
        raise GraderError("catalog.toml can't be cut up at its headings")
    return made


def is_chosen(entry: dict[str, Any], chosen: dict[str, Container[str]]) -> bool:
    """Whether an entry by itself, `{"kata": [{…}]}`, is one of those that stay."""
    [(kind, [table])] = entry.items()
    return table["name"] in chosen[kind]
