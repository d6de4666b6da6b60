"""No handout and no package contains a line of a solution, of the zoo or of a hidden program."""

import json
import tomllib

import pytest

from grader.commands.package.platform_package import ABOUT, FILES, Platform, build_package
from grader.commands.release.contents import build_handout, build_self_study
from grader.commands.release.notebooks import make_notebooks
from grader.options import PackageOptions
from grader.tests.support.leaks import collect_secrets, find_leaks
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.course.submission import zip_files

KATAS = tuple(course().katas)
CORE = tuple(kata.name for kata in course().choose([], ["core"]))
CHOICES = {"all": KATAS, "core": CORE, **{name: (name,) for name in KATAS}}
WRITTEN_TESTS = [name for name in KATAS if (course().folder(name) / HIDDEN_PROGRAMS).is_file()]
KINDS = ("solution.py", "fallback.py", "right/", "right.toml", "wrong.toml", HIDDEN_PROGRAMS, "cheats/", "slow/")
FALLBACKS = {path.relative_to(course().root).as_posix() for path in course().reference.glob("*/fallback.py")}


def build(names: tuple[str, ...], language: str = "en", *, notebooks: bool = False) -> dict[str, bytes]:
    """Return the files of a handout."""
    katas = course().with_prerequisites(names)
    files = build_handout(katas, language)
    return files | (make_notebooks(katas, files, language, None) if notebooks else {})


def list_private(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if name.startswith("reference/") and course().is_private(course().root / name)]


@pytest.mark.sample
@pytest.mark.parametrize("chosen", CHOICES)
def test_handout_contains_no_secret(chosen: str) -> None:
    files = build(CHOICES[chosen])
    assert list_private(files) == find_leaks(files) == []


@pytest.mark.usefixtures("needs_jupyter")
@pytest.mark.parametrize("language", course().languages)
def test_handout_with_notebooks_contains_no_secret(language: str) -> None:
    files = build(KATAS, language, notebooks=True)
    assert [name for name in files if name.endswith(".ipynb")]
    assert list_private(files) == find_leaks(files) == []


def test_course_for_self_learners_contains_no_secret() -> None:
    files = build_self_study()
    assert list_private(files) == find_leaks(files) == []


@pytest.mark.sample
@pytest.mark.parametrize("platform", ["gradescope", "github", "gitlab", "classroom50"])
@pytest.mark.parametrize("chosen", ["all", "core", *WRITTEN_TESTS])
def test_package_contains_only_secrets_that_grading_needs(platform: str, chosen: str) -> None:
    names = CHOICES[chosen]
    about = Platform(platform, **tomllib.loads((FILES / platform / ABOUT).read_text("utf-8")))
    files = build_package(about, PackageOptions(out=course().root, katas=names, examples=10, seed=0))
    given = set() if about.is_public else FALLBACKS | {f"reference/{name}/{HIDDEN_PROGRAMS}" for name in names}
    assert find_leaks(files, given) == []
    copied = {name.partition("torchkata/reference/")[2]: content for name, content in files.items()}
    private = list_private({f"reference/{name}": content for name, content in copied.items() if name})
    assert {*private} - given - {"reference/lint.toml"} == set()


@pytest.mark.sample
@pytest.mark.parametrize("kind", KINDS)
def test_planted_line_is_found(kind: str) -> None:
    line, place = next(item for item in collect_secrets().items() if kind in item[1])
    planted = {
        "torchkata/hidden.py": f"class Hidden:\n    def step(self):\n\t\t{line.replace(' ', '  ')}\n",
        "docs/students.md": f"An example:\n\n    {line}\n",
        "tests/test_linear.py": f"# {line}\n",
        "reference/linear/kata.toml": f"hints = [{json.dumps(line)}]",
        "notebooks/linear.ipynb": json.dumps({"cells": [{"source": ["import torch\n", f"{line}\n"]}]}),
        "broken.json": f"{{\n{line}\n",
    }
    files = {name: text.encode() for name, text in planted.items()}
    files["solutions.zip"] = zip_files({name: files[name] for name in list(files)[:1]})
    files["nothing.py"] = b"import torch\n"
    assert find_leaks(files) == [f"{name} has a line of {place}: {line}" for name in files if name != "nothing.py"]
    assert find_leaks(files, [place]) == []


def test_most_solutions_have_secret_lines() -> None:
    places = {*collect_secrets().values()}
    found = [name for name in KATAS if f"reference/{name}/solution.py" in places]
    assert {"linear", "train", "strides"} <= {*found}
    assert len(found) > 0.8 * len(KATAS)
