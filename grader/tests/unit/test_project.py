"""Tests of the project itself: public API, imports in courses, zoo of mistakes, lock file and workflows."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import torchkata
import torchkata.speed
from grader.base.errors import CallError
from grader.commands.requirements import wrong_imports
from grader.proof import zoo
from grader.tests import ROOT
from torchkata.course import CourseError, course

COURSES = ("", "examples/courses/primes/", "grader/commands/new/files/course/", "grader/commands/new/files/kata/*/")


@pytest.mark.parametrize(("folder", "below"), [("reference", ("reference",)), ("tests", ("tests", "reference"))])
def test_courses_import_only_the_public_api(folder: str, below: tuple[str, ...]) -> None:
    paths = [path for root in COURSES for path in ROOT.glob(f"{root}{folder}/**/*.py") if "cheats" not in path.parts]
    assert len(paths) > 50
    assert [line for path in paths for line in wrong_imports(path, ("torchkata", *below))] == []


def test_public_names_are_documented() -> None:
    assert len(torchkata.__all__) <= 21
    page = (ROOT / "docs/api.md").read_text("utf-8")
    named = re.findall(r"^- `([\w.]+)`$", page, re.MULTILINE)
    public = {*torchkata.__all__} - {"speed"} | {f"speed.{name}" for name in torchkata.speed.__all__}
    assert sorted(named) == sorted(public)


def test_invalid_zoo_entries_are_rejected() -> None:
    with pytest.raises(CallError, match="'gone' occurs 0 times"):
        zoo.make_source("x", "solution", {"replace": [["gone", "here"]]})
    with pytest.raises(CallError, match="identical to the solution"):
        zoo.make_source("x", "solution", {"source": "solution"})
    tables = {"patches": {"he": ["a", "b"]}, "he": {"breaks": "no ReLU follows"}}
    with pytest.raises(CallError, match=r"linear/wrong\.toml: two entries are called 'he'"):
        list(zoo.read_entries(course().katas["linear"], tables))
    with pytest.raises(CallError, match="g is missing, which the stub has"):
        zoo.check_names("x", "def f(): ...", "def f(): ...\ndef g(): ...")
    with pytest.raises(CallError, match=r"x: the stub or this program is not valid Python \(invalid syntax"):
        zoo.check_names("x", "def f(): ...", "def f(:")
    with pytest.raises(
        CourseError, match=r"\[levels\] has the unknown key 'middle'; the keys are central, conventions"
    ):
        zoo.read_levels(Path("wrong.toml"), {"middle": ["a", "b"]})


def test_each_list_of_tests_has_mistakes() -> None:
    """Otherwise [levels] in wrong.toml is incomplete, and nobody has measured what such a mistake costs."""
    for kata in course().katas.values():
        if levels := {entry.level for entry in zoo.load_wrong(kata)}:
            assert levels == {level for level, tests in kata.tests.items() if tests}, kata.name


def test_lock_file_matches_project_and_constraints() -> None:
    text = (ROOT / "uv.lock").read_text("utf-8")
    packages = tomllib.loads(text)["package"]
    locked: dict[str, set[str]] = {}
    for package in packages:
        locked.setdefault(package["name"], set()).add(package.get("version", ""))
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    pinned.pop("pip")  # uv does not need it
    assert {name: version for name, version in pinned.items() if version not in locked[name.lower()]} == {}
    assert set(re.findall(r'"(https?://[^/"]+)', text)) == {"https://pypi.org", "https://files.pythonhosted.org"}

    def names(*groups: list[Any]) -> set[str]:
        return {canonicalize_name(Requirement(one).name) for group in groups for one in group if isinstance(one, str)}

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (ours,) = (package["metadata"] for package in packages if package["name"] == "torchkata")
    project = settings["project"]
    required = names(project["dependencies"], *project["optional-dependencies"].values())
    assert {one["name"] for one in ours["requires-dist"]} == required
    for group, texts in settings["dependency-groups"].items():
        assert names(texts) <= {one["name"] for one in ours["requires-dev"][group]}, group


def test_changelog_fragments_have_a_configured_type() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = [path.name for path in (ROOT / settings["directory"]).iterdir() if path.name != "README.md"]
    assert [name for name in names if not re.fullmatch(rf"\+[\w-]+\.({kinds})\.md", name)] == []
    assert settings["start_string"] in (ROOT / settings["filename"]).read_text("utf-8")


WORKFLOWS = [*ROOT.glob(".github/workflows/*.yml"), *(ROOT / "grader/commands").rglob("github/*.yml")]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_and_have_only_read_permission(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    granted = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    publishes = {
        "release.yml": {"publish": {"id-token": "write", "attestations": "write", "contents": "read"}},
        "pages.yml": {"publish": {"pages": "write", "id-token": "write"}},
    }
    assert granted == publishes.get(path.name, {})
    assert [action for action in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action)] == []


def test_workflows_call_existing_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = {name for line in re.findall(r"^([\w -]+):(?!=)", makefile, re.MULTILINE) for name in line.split()}
    called: set[str] = set()
    for job in (job for path in WORKFLOWS for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()):
        matrix = job.get("strategy", {}).get("matrix", {})
        values = [*matrix.get("target", []), *(one["targets"] for one in matrix.get("include", []))]
        for step in job["steps"]:
            if found := re.match(r"(?:make|\.ci/run) (.+)$", step.get("run", "")):
                called |= {name for text in ([found[1]] if "$" not in found[1] else values) for name in text.split()}
    assert {"test", "style", "prove", "dist", "sbom", "audit"} <= called
    assert called <= targets
