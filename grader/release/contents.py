"""The files of a handout: what the chosen katas need, found by following imports from their tests."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.errors import GraderError
from grader.package.project import files_of
from grader.release.ideas import with_sections
from grader.release.manifest import with_only
from torchkata.catalog import ROOT, Kata, Workload, catalog

FILES = Path(__file__).with_name("files")
PLACES = {"README.md": "README.md", "pyproject.toml": "pyproject.toml", "gitignore": ".gitignore"}
WORKFLOW = ".github/workflows/test.yml"
WHOLE = ("conftest.py", "torchkata", "LICENSE", "docs/students.md")
GIVEN = ("tests/", "reference/oracle/", "reference/misconceptions/")
MISTAKES = "reference/misconceptions"  # found by their kata's name, imported by no test
SPEED = "tests/test_speed.py"
MANIFEST = "torchkata/catalog.toml"
IDEAS = "docs/katas.md"


def with_foundations(names: Sequence[str]) -> list[Kata]:
    """These katas and all that they build on, in order."""
    needed = {*names}.union(*(catalog().foundations(name) for name in names))
    return [kata for kata in catalog().katas.values() if kata.name in needed]


def workloads_of(katas: Sequence[Kata]) -> list[Workload]:
    """The workloads that use these katas only."""
    names = {kata.name for kata in katas}
    return [workload for workload in catalog().workloads.values() if names.issuperset(workload.uses)]


def contents(katas: Sequence[Kata]) -> dict[str, bytes]:
    """Every file of the handout, by path."""
    names = [kata.name for kata in katas]
    workloads = workloads_of(katas)
    start = [f"tests/test_{name}.py" for name in names] + ([SPEED] if workloads else [])
    start += [path for name in ("__init__", *names) if (ROOT / (path := f"{MISTAKES}/{name}.py")).is_file()]
    whole = [path.relative_to(ROOT).as_posix() for name in WHOLE for path in files_of(ROOT / name)]
    stubs = {f"{name}.py": (ROOT / "assignment" / f"{name}.py").read_bytes() for name in names}
    files = {path: (ROOT / path).read_bytes() for path in {*whole, *closure(start)}}
    files |= {place: (FILES / name).read_bytes() for name, place in PLACES.items()}
    files |= {f"assignment/{name}": content for name, content in stubs.items()}
    files |= {f"reference/stubs/{name}": content for name, content in stubs.items()}
    files["assignment/__init__.py"] = (ROOT / "assignment/__init__.py").read_bytes()
    files[WORKFLOW] = (FILES / "test.yml").read_bytes()
    files[MANIFEST] = with_only(files[MANIFEST].decode(), names, [workload.name for workload in workloads]).encode()
    files[IDEAS] = with_sections((ROOT / IDEAS).read_text("utf-8"), names).encode()
    files["README.md"] = files["README.md"].replace(b"KATAS\n", table(katas).encode())
    return dict(sorted(files.items()))


def closure(start: Sequence[str]) -> set[str]:
    """These files and all of ours that they import, directly or not, but for `torchkata/`, which is there as a whole.

    Raises GraderError where that leads to what stays with the instructor.
    """
    found: set[str] = set()
    open_ends = list(start)
    while open_ends:
        path = open_ends.pop()
        if path not in found and not path.startswith("torchkata/"):
            found.add(path)
            open_ends += imports(path)
    if strays := sorted(path for path in found if not path.startswith(GIVEN) and path != "reference/__init__.py"):
        raise GraderError(f"the handout would need {strays[0]}, which stays with the instructor")
    return found


def imports(path: str) -> Iterator[str]:
    """The files of ours that a file imports, and the `__init__.py` of the folders above it."""
    folders = Path(path).parent.parts
    for depth in range(1, len(folders) + 1):
        yield "/".join([*folders[:depth], "__init__.py"])
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = folders[: len(folders) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            modules = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        for module in modules:
            for file in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
                if (ROOT / file).is_file():
                    yield file


def table(katas: Sequence[Kata]) -> str:
    """The katas for the README, by track."""
    lines = []
    for track in catalog().tracks.values():
        chosen = [kata for kata in katas if kata.track == track.name]
        if chosen:
            lines += [f"**{track.title}**", "", "| file | what you build |", "|---|---|"]
            lines += [f"| `assignment/{kata.name}.py` | {kata.title} |" for kata in chosen] + [""]
    return "\n".join(lines)
