"""The files of a course: where each of them is, and which of them students may see."""

from dataclasses import dataclass
from pathlib import Path

HIDDEN_PROGRAMS = "hidden.toml"  # programs for the tests that students write; private, but needed for grading
PRIVATE = frozenset(
    (
        *("solution.py", "fallback.py", "lint.toml", "wrong.toml", "caught_by.toml", "costly.toml", HIDDEN_PROGRAMS),
        *("right", "right.toml", "cheats", "slow"),
    )
)


@dataclass(frozen=True)
class CourseFiles:
    """The folder of a course. No file is read."""

    root: Path

    @property
    def assignment(self) -> Path:
        """The folder of the stubs."""
        return self.root / "assignment"

    @property
    def tests(self) -> Path:
        """The folder of the tests."""
        return self.root / "tests"

    @property
    def reference(self) -> Path:
        """The folder that contains the oracles, mistakes, solutions and texts of all katas."""
        return self.root / "reference"

    def stub(self, kata: str) -> Path:
        """Return the path of the file that students edit."""
        return self.assignment / f"{kata}.py"

    def solution(self, kata: str) -> Path:
        """Return the path of the instructor's solution."""
        return self.folder(kata) / "solution.py"

    def fallback(self, kata: str) -> Path:
        """Return the path of the code that replaces a student's unfinished kata if other katas build on it."""
        return self.folder(kata) / "fallback.py"

    def test_file(self, kata: str) -> Path:
        """Return the path of the tests of a kata."""
        return self.tests / f"test_{kata}.py"

    def folder(self, kata: str) -> Path:
        """Return the path of the folder of a kata in `reference/`."""
        return self.reference / kata

    def rules(self) -> list[Path]:
        """Return the files that define tasks and points: the tests, and `reference/` except solutions and the zoo."""
        reference = [path for path in self.reference.rglob("*") if self.affects_points(path)]
        paths = [*reference, *self.tests.rglob("*"), self.root / "pyproject.toml", self.root / "conftest.py"]
        return sorted(path for path in paths if path.suffix in (".py", ".toml", ".po") and path.is_file())

    def is_private(self, path: Path) -> bool:
        """Return whether a file in `reference/` solves a kata or checks the tests, and thus must not be handed out."""
        return not PRIVATE.isdisjoint(path.relative_to(self.reference).parts)

    def affects_points(self, path: Path) -> bool:
        """Return whether tests may read a file in `reference/`, because it is public or contains hidden programs."""
        return path.name == HIDDEN_PROGRAMS or not self.is_private(path)
