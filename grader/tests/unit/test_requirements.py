"""What a kata lacks is named by `certify`, a line each; the katas of this course lack nothing."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.commands.requirements import find_missing
from grader.tests import ROOT
from grader.tests.conftest import run
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
STUB, TESTS, CAUGHT = "assignment/sieve.py", "tests/test_sieve.py", "reference/sieve/caught_by.toml"


@pytest.fixture
def primes(tmp_path: Path) -> Iterator[Path]:
    """A copy of a small course, with a page of katas, in use."""
    here = course().root
    copy = shutil.copytree(ROOT / "examples/courses/primes", tmp_path / "primes")
    use(copy)
    titles = {name: kata.title for name, kata in course().katas.items()}
    (copy / "docs").mkdir()
    (copy / "docs/katas.md").write_text(PAGE.format(**titles), "utf-8")
    yield copy
    use(here)


def lines_of(folder: Path) -> list[str]:
    """Return what the katas of this course lack."""
    use(folder)
    return [line for lines in find_missing(list(course().katas.values()), quick=True).values() for line in lines]


def test_katas_of_the_course_lack_nothing() -> None:
    assert lines_of(ROOT) == []


def test_katas_of_a_small_course_lack_nothing(primes: Path) -> None:
    assert lines_of(primes) == []


def test_katas_of_a_course_in_two_languages_lack_nothing() -> None:
    done = run("grader", "certify", "--only", "files", "--quick", cwd=ROOT / "examples/courses/vectors")
    assert (done.code, "FAILED" in done.out) == (0, False), done.out + done.err


def test_hint_with_a_line_of_the_solution_is_named(primes: Path) -> None:
    line = "remains[prime * prime :: prime] = bytes(len(range(prime * prime, n, prime)))"
    told, solution = (primes / "reference/sieve" / name for name in ("kata.toml", "solution.py"))
    solution.write_text(solution.read_text("utf-8") + f"\n\ndef own(remains, prime, n):\n    {line}\n", "utf-8")
    told.write_text(told.read_text("utf-8").replace("hints = [", f'hints = [\n    "Then {line}.",', 1), "utf-8")
    assert lines_of(primes) == [f"reference/sieve/kata.toml: a hint contains a line of the solution: `{line}`"]


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (STUB, "raise NotImplementedError", "return []", f"{STUB}: sieve is already implemented; a stub must end with"),
        (STUB, "raise NotImplementedError", "raise (", f"{STUB}: not valid Python ("),
        (STUB, "Example:", "For one:", f"{STUB}: add an example with its value as a comment"),
        (
            STUB,
            "5, 7]:",
            "5, 9]:",
            f"{STUB}: the example does not run with the solution: got [2, 3, 5, 7], expected",
        ),
        (STUB, "(n: int)", "(m: int)", f"{STUB}: sieve: the stub has (m: int)"),
        (STUB, '"""', '"""With math.sqrt. ', f"{STUB}: the text mentions math; import it"),
        (TESTS, "from reference", "import grader.cli\nfrom reference", f"{TESTS}: imports grader.cli; of this"),
        (CAUGHT, '"descending", ', "", f"{CAUGHT}: lacks descending; "),
        ("docs/katas.md", "### sieve", "### sive", "docs/katas.md: add a section `### sieve: "),
        ("docs/katas.md", "### sieve: ", "### sieve: Not ", "docs/katas.md: the section of sieve must begin with"),
        ("docs/katas.md", "## Prime numbers", "## Primes", "docs/katas.md: the section of sieve belongs under"),
        (
            "docs/katas.md",
            "Cross out what is a product.",
            "",
            "docs/katas.md: the section of sieve must explain the kata",
        ),
        ("docs/katas.md", "Needs: nothing.", "", "docs/katas.md: the section of sieve needs a line `Needs: nothing.`"),
        ("docs/katas.md", "Needs: nothing.", "Needs: `factorise`.", "docs/katas.md: `Needs:` of sieve names"),
        ("docs/katas.md", "Divide.", "2 + 2 = 5", "docs/katas.md: 2 + 2 = 5: the left side is 4"),
    ],
)
def test_what_a_kata_lacks_is_named_in_a_line(primes: Path, file: str, old: str, new: str, line: str) -> None:
    text = (primes / file).read_text("utf-8")
    assert old in text
    (primes / file).write_text(text.replace(old, new, 1), "utf-8")
    assert any(one.startswith(line) for one in lines_of(primes))


def test_missing_file_and_sentence_are_named(primes: Path) -> None:
    (primes / "reference/sieve/solution.py").unlink()
    tests = primes / "tests/test_factorise.py"
    text = re.sub(r'(def test_.*\n    """.*)\."""', r'\1"""', tests.read_text("utf-8"), count=1)
    tests.write_text(text, "utf-8")
    found = lines_of(primes)
    assert "reference/sieve/solution.py: there is no such file" in found
    assert any("needs a docstring that begins with one sentence" in line for line in found)


def test_sections_in_another_order_are_named(primes: Path) -> None:
    page = primes / "docs/katas.md"
    head, sieve, factorise = page.read_text("utf-8").split("###")
    page.write_text("###".join([head, factorise + "\n", sieve]), "utf-8")
    assert [line for line in lines_of(primes) if "must come first" in line]


def test_style_is_looked_at_where_the_course_has_settings(primes: Path) -> None:
    oracle, settings = primes / "reference/sieve/oracle.py", primes / "pyproject.toml"
    oracle.write_text(oracle.read_text("utf-8") + "\nx  =  unknown\n", "utf-8")
    assert lines_of(primes) == []
    settings.write_text(settings.read_text("utf-8") + '\n[tool.ruff.lint]\nselect = ["F"]\n', "utf-8")
    found = "\n".join(lines_of(primes))
    assert "reference/sieve/oracle.py: `ruff format` would change it" in found
    assert "F821 Undefined name `unknown`" in found
