"""What the outcome of grading an order depends on, as one digest: files, inputs, versions.

    tests/test_<kata>.py, its probes and misconceptions ──┐
    torchkata/*.py, grader/session.py, grader/worker/*.py … ───┴─► and all of ours that these import, anywhere

What is judged of the outcome, and the sentences that a student reads, are not in it.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from grader.result import environment
from grader.session import STANDINS, Order
from torchkata.catalog import ROOT, catalog

COMMON = ("conftest.py", "torchkata/[!_]*.py", "grader/session.py", "grader/workplace.py", "grader/worker/*.py")
EACH = ("tests/test_{kata}.py", "tests/probes/{kata}.py", "reference/misconceptions/{kata}.py")


def digest(order: Order, examples: int, isolation: str) -> str:
    """The same for what must come out the same; another if anything changes that it depends on."""
    names = {kata.name for kata in order.katas}
    needed = [*names, *(name for kata in names for name in catalog().foundations(kata))]
    about = (examples, isolation, order.seed, order.limits, sorted(order.sound & {*needed}))
    found = hashlib.sha256(repr((about, versions())).encode())
    for kata in order.katas:
        found.update(repr((kata.name, [*kata.points], ours(kata.name))).encode())
    for name in sorted({*needed}):
        source = order.submission.files.get(f"{name}.py")
        found.update(repr((name, source and hashlib.sha256(source).hexdigest())).encode())
    return found.hexdigest()


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Of Python, this platform, torch and the other libraries."""
    return tuple(sorted(environment().items()))


@cache
def ours(kata: str) -> str:
    """A digest of everything of ours that takes part in grading a kata, as it was when this was first asked."""
    roots = [path for pattern in COMMON for path in ROOT.glob(pattern)]
    roots += [ROOT / pattern.format(kata=kata) for pattern in EACH]
    roots += [STANDINS / f"{name}.py" for name in catalog().foundations(kata)]
    found = hashlib.sha256()
    for path in sorted(with_imports(roots)):
        found.update(f"{path.relative_to(ROOT).as_posix()}:{content(path)};".encode())
    return found.hexdigest()


@cache
def content(path: Path) -> str:
    """A digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def with_imports(paths: Iterable[Path]) -> set[Path]:
    """These files, those of ours that they import, and so on; what is not there is left out."""
    found: set[Path] = set()
    waiting = [path for path in paths if path.is_file()]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return found


@cache
def imported(path: Path) -> tuple[Path, ...]:
    """The files of ours that a file imports, with the packages that they are in."""
    names = [name for node in ast.walk(ast.parse(path.read_bytes())) for name in modules(node, path)]
    places = {ROOT.joinpath(*name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file for file in files if file.is_file())


def modules(node: ast.AST, path: Path) -> Iterator[str]:
    """What an import may name: modules, and things in modules, which are no files."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module, names, level):
            package = path.relative_to(ROOT).parent.parts
            inside = ".".join([*package[: len(package) + 1 - level], *filter(None, [module])]) if level else module
            yield from (f"{inside}.{alias.name}" for alias in names)
