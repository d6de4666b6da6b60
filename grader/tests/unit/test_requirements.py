"""Tests of the requirements that `grader certify` checks: it prints one line for each missing part of a kata."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.commands.release.contract import find_differences, find_written
from grader.commands.requirements import find_missing
from grader.tests import ROOT
from torchkata.course import course, use

PAGE = """# Katas

## Prime numbers

### sieve: {sieve}

Cross out what is a product.

Needs: nothing.

### factorise: {factorise}

Divide.

Needs: `sieve`.
"""
SOLUTION = "reference/sieve/solution.py"
STUB, TESTS, CAUGHT = "assignment/sieve.py", "tests/test_sieve.py", "reference/sieve/caught_by.toml"
PAGE_FILE = "docs/katas.md"


@pytest.fixture
def primes(tmp_path: Path) -> Iterator[Path]:
    """Copy a small course, add a page about its katas, select the copy as the current course, and yield its folder."""
    here = course().root
    copy = shutil.copytree(ROOT / "examples/courses/primes", tmp_path / "primes")
    use(copy)
    titles = {name: kata.title for name, kata in course().katas.items()}
    (copy / "docs").mkdir()
    (copy / "docs/katas.md").write_text(PAGE.format(**titles), "utf-8")
    yield copy
    use(here)


def list_missing(folder: Path, *, quick: bool = True) -> list[str]:
    use(folder)
    return [line for lines in find_missing(list(course().katas.values()), quick=quick).values() for line in lines]


def test_complete_course_meets_all_requirements(primes: Path) -> None:
    assert list_missing(primes) == []


def test_hint_containing_solution_line_is_reported(primes: Path) -> None:
    line = "remains[prime * prime :: prime] = bytes(len(range(prime * prime, n, prime)))"
    told, solution = (primes / "reference/sieve" / name for name in ("kata.toml", "solution.py"))
    solution.write_text(solution.read_text("utf-8") + f"\n\ndef own(remains, prime, n):\n    {line}\n", "utf-8")
    told.write_text(told.read_text("utf-8").replace("hints = [", f'hints = [\n    "Then {line}.",', 1), "utf-8")
    assert list_missing(primes) == [f"reference/sieve/kata.toml: a hint contains a line of the solution: `{line}`"]


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (STUB, "raise NotImplementedError", "return []", f"{STUB}: sieve is already implemented; a stub must end with"),
        (STUB, "raise NotImplementedError", "raise (", f"{STUB}: not valid Python ("),
        (STUB, "(n: int)", "(m: int)", f"{STUB}: sieve: the stub has (m: int)"),
        (STUB, '"""', '"""With math.sqrt. ', f"{STUB}: the text mentions math; import it"),
        (
            SOLUTION,
            '"""',
            'import numpy, rich.table\n"""',
            f"{SOLUTION}: imports rich, which students do not have; add",
        ),
        (TESTS, "from reference", "import grader.cli\nfrom reference", f"{TESTS}: imports grader.cli; of this"),
        (CAUGHT, '"descending", ', "", f"{CAUGHT}: descending is missing; "),
        (PAGE_FILE, "### sieve", "### sive", f"{PAGE_FILE}: add a section `### sieve: "),
        (PAGE_FILE, "### sieve: ", "### sieve: Not ", f"{PAGE_FILE}: the section of sieve must begin with"),
        (PAGE_FILE, "## Prime numbers", "## Primes", f"{PAGE_FILE}: the section of sieve belongs under"),
        (PAGE_FILE, "Cross out what is a product.", "", f"{PAGE_FILE}: the section of sieve must explain the kata"),
        (PAGE_FILE, "Needs: nothing.", "", f"{PAGE_FILE}: the section of sieve needs a line `Needs: nothing.`"),
        (PAGE_FILE, "Needs: nothing.", "Needs: `factorise`.", f"{PAGE_FILE}: `Needs:` of sieve names"),
    ],
)
def test_unmet_requirement_is_reported_in_one_line(primes: Path, file: str, old: str, new: str, line: str) -> None:
    text = (primes / file).read_text("utf-8")
    assert old in text
    (primes / file).write_text(text.replace(old, new, 1), "utf-8")
    assert any(one.startswith(line) for one in list_missing(primes))


def test_page_must_show_hours_and_difficulty(primes: Path) -> None:
    told, row = primes / "reference/sieve/kata.toml", "| `sieve` | 0.5 | easy |"
    effort = 'hours = 0.5\ndifficulty = "easy"\nafter = "list the primes"\nhints'
    told.write_text(told.read_text("utf-8").replace("hints", effort, 1), "utf-8")
    assert list_missing(primes) == [f"{PAGE_FILE}: add the line `{row}` under `## Prime numbers`, as in kata.toml"]
    (primes / PAGE_FILE).write_text((primes / PAGE_FILE).read_text("utf-8").replace("###", f"{row}\n\n###", 1), "utf-8")
    assert not list_missing(primes)


def test_order_of_page_and_missing_docstring_are_reported(primes: Path) -> None:
    tests, page = primes / "tests/test_factorise.py", primes / "docs/katas.md"
    head, sieve, factorise = page.read_text("utf-8").split("###")
    page.write_text("###".join([head, factorise + "\n", sieve]), "utf-8")
    assert any("must come first" in line for line in list_missing(primes))
    text = re.sub(r'(def test_.*\n    """.*)\."""', r'\1"""', tests.read_text("utf-8"), count=1)
    tests.write_text(text, "utf-8")
    assert any("needs a docstring that begins with one sentence" in line for line in list_missing(primes))


@pytest.mark.usefixtures("needs_linters")
def test_code_style_is_checked_if_configured(primes: Path) -> None:
    oracle, settings = primes / "reference/sieve/oracle.py", primes / "pyproject.toml"
    oracle.write_text(oracle.read_text("utf-8") + "\nx  =  unknown\n", "utf-8")
    assert list_missing(primes) == []
    settings.write_text(settings.read_text("utf-8") + '\n[tool.ruff.lint]\nselect = ["F"]\n', "utf-8")
    found = "\n".join(list_missing(primes))
    assert "reference/sieve/oracle.py: `ruff format` would change it" in found
    assert "F821 Undefined name `unknown`" in found


@pytest.mark.usefixtures("needs_linters")
def test_types_are_checked_where_settings_say(primes: Path) -> None:
    wrong, settings = "\nx: int = 'one'\n", primes / "pyproject.toml"
    for file in (primes / "reference/sieve/right/other.py", primes / "reference/sieve/oracle.py"):
        file.parent.mkdir(exist_ok=True)
        file.write_text((file.read_text("utf-8") if file.exists() else "") + wrong, "utf-8")
    settings.write_text(settings.read_text("utf-8") + "\n[tool.mypy]\nexclude = ['reference/.*/right/']\n", "utf-8")
    [line] = (line for line in list_missing(primes, quick=False) if "[assignment]" in line)
    assert line.startswith("reference/sieve/oracle.py:")


CODE = '''
class A(Base):
    """An A."""

    def __init__(self, n: int) -> None:
        raise NotImplementedError

    def double(self, x: int = 1) -> int:
        """Twice."""
        raise NotImplementedError
'''


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("n: int", "m: int", "A.__init__: the stub has (self, n: int) -> None, the solution (self, m: int) -> None"),
        ("x: int = 1", "x: int = 2", "A.double: the stub has (self, x: int=1) -> int, the solution (self, x: int=2)"),
        ("(Base)", "(Other)", "A: the stub has class (Base), the solution class (Other)"),
        ("double", "triple", "A.double is in the stub, but not in the solution"),
        ('"""Twice."""', "", "A.double has no docstring in the solution"),
        ("    def double", "    @property\n    def double", "A.double: the stub has (self"),
    ],
)
def test_difference_between_stub_and_solution_is_reported(old: str, new: str, difference: str) -> None:
    assert any(found.startswith(difference) for found in find_differences(CODE, CODE.replace(old, new)))


def test_code_provided_in_a_stub_must_be_marked() -> None:
    assert find_differences(CODE, CODE.replace("raise NotImplementedError", "return 2") + "\ndef own(): ...\n") == []
    written = CODE.replace("raise NotImplementedError", "self.n = n", 1)
    assert find_written(CODE) == []
    assert find_written(written) == ["__init__"]
    assert find_written(written.replace("An A.", "An A. This class is provided.")) == []
