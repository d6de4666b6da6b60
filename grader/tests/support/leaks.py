"""Searches the files of a handout or package for lines of solutions, of the zoo and of hidden programs."""

import io
import json
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from torchkata.course import course

SHORTEST = 40  # minimum number of characters; shorter lines such as `return x @ weight` are not considered secret
ORDINARY = re.compile(r"(from|import|def|class) |[@#]")  # stubs and tests have such lines as well
TEXTS = ("solution.py", "fallback.py", "wrong.toml", "right.toml", "hidden.toml")
FOLDERS = ("right", "cheats", "slow")
PUBLIC = ("assignment/*.py", "reference/*/oracle.py", "reference/*/mistakes.py", "reference/*/visible.toml")
SHARED = {  # lines of tests and questions that a program of the zoo has as well
    'device = "cuda" if torch.cuda.is_available() else "cpu"',
    "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)",
    "for name, p in model.named_parameters():",
    'v = self.state[p].setdefault("v", torch.zeros_like(p))',
    "for group, lr in zip(optimizer.param_groups, rates, strict=True):",
    "saved = copy.deepcopy(optimizer.state_dict())",
}
PARSERS: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": json.loads, ".ipynb": json.loads}


def find_leaks(files: Mapping[str, bytes], given: Iterable[str] = ()) -> list[str]:
    """Return a line for each secret line in these files. `given` are the private files that may be among them."""
    secrets = collect_secrets(frozenset(given))
    return [
        f"{path} has a line of {secrets[line]}: {line}"
        for path, content in files.items()
        for line in read_lines(path, content)
        if line in secrets
    ]


@cache
def collect_secrets(given: frozenset[str] = frozenset()) -> dict[str, str]:
    """Map each secret line to the private file that contains it."""
    root = course().root
    private = {path.relative_to(root).as_posix(): path for path in sorted(course().reference.rglob("*"))}
    secrets, public = dict[str, str](), {*SHARED}
    for name, path in private.items():
        if path.name in TEXTS or not {*FOLDERS}.isdisjoint(path.parts):
            found = read_lines(name, path.read_bytes()) if path.is_file() else ()
            if name in given:
                public |= {*found}
            secrets |= {line: name for line in found if len(line) >= SHORTEST and not ORDINARY.match(line)}
    for path in (path for pattern in PUBLIC for path in root.glob(pattern)):
        public |= {*read_lines(path.name, path.read_bytes())}
    return {line: name for line, name in secrets.items() if line not in public}


@cache
def read_lines(path: str, content: bytes) -> tuple[str, ...]:
    """Return the different lines of a file."""
    return tuple(dict.fromkeys(list_lines(path, content)))


def list_lines(path: str, content: bytes) -> Iterator[str]:
    """Yield the lines of a file, of the texts in a data file, or of the files in a zip, without extra whitespace."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from list_lines(name, archive.read(name))
        return
    text = content.decode("utf-8", "replace")
    try:
        texts = [*select_texts(PARSERS[PurePosixPath(path).suffix](text))]
    except (KeyError, ValueError):  # neither TOML nor JSON
        texts = [text]
    for one in texts:
        yield from (" ".join(line.split()).removeprefix("# ") for line in one.splitlines())


def select_texts(value: object) -> Iterator[str]:
    """Yield all texts in a value that was parsed from TOML or JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from select_texts(one)
