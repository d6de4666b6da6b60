"""The parts fit: points and tests, stubs and solution, what students install, what must not be written down."""

import ast
import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.base.errors import CallError
from grader.base.imports import with_imports
from grader.proof import zoo
from grader.sandbox.launch import RUNTIME, WORKLOADS
from grader.tests import ROOT
from grader.tests.conftest import python
from torchkata.course import Kata, course

KATAS = list(course().katas.values())
NOTHING_OPEN = (
    "cruncher",
    "flop_accounting",
    "initialization",
    "linear_backward",
    "memory_accounting",
)


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_every_test_of_a_kata_has_points(kata: Kata) -> None:
    module = importlib.import_module(f"tests.test_{kata.name}")
    assert set(kata.points) == {test for test in vars(module) if test.startswith("test_")}


@pytest.mark.parametrize("kata", [kata.name for kata in KATAS])
def test_every_stub_has_an_example_and_says_what_is_open(kata: str) -> None:
    text = (ROOT / f"assignment/{kata}.py").read_text()
    assert "raise NotImplementedError" in text
    assert "Example" in text
    assert ("Left to you:" in text) != (kata in NOTHING_OPEN)


def test_the_first_line_of_every_kata_test_is_a_sentence() -> None:
    for kata in KATAS:
        for name in kata.points:
            claim = (
                inspect.getdoc(getattr(importlib.import_module(f"tests.test_{kata.name}"), name)) or ""
            ).splitlines()[0]
            assert claim.endswith("."), name
            assert len(claim) < 125, name


@pytest.mark.parametrize(
    ("folder", "below"), [("reference", {"reference"}), ("tests", {"tests", "torchkata", "reference"})]
)
def test_every_folder_of_the_course_imports_only_what_is_below_it(folder: str, below: set[str]) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            if path.parent == ROOT / "reference/workloads":
                names = [name for name in names if not name.startswith("torchkata.speed.")]
            used = {name.partition(".")[0] for name in names}
            assert used & {"torchkata", "reference", "tests", "grader", "assignment"} <= below, path


def test_workloads_need_no_more_than_a_worker_has() -> None:
    for path in (ROOT / "reference/workloads").glob("*.py"):
        ours = {file.relative_to(ROOT) for file in with_imports([path]) if file.name != "__init__.py"}
        seen = {file for file in ours if file.as_posix() in RUNTIME or file.match(WORKLOADS)}
        assert ours == seen, f"{path}: a worker has no more"


def test_what_a_workload_is_worth_is_known_without_torch() -> None:
    code = "import sys, torchkata.course as c; print(len(c.course().workloads), 'torch' in sys.modules)"
    assert python("-c", code).out == "8 False\n"


def test_probes_import_nothing_that_a_worker_lacks() -> None:
    for path in (ROOT / "tests/probes").glob("*.py"):
        needed = re.findall(r"^(?:from|import) ((?:torchkata|reference|tests)\S*)", path.read_text(), re.MULTILINE)
        assert {*needed} <= {"torchkata.torch_internals", "torchkata.probes"}, f"{path}: a worker has no more"


def test_every_module_in_reference_has_a_docstring() -> None:
    for path in (ROOT / "reference").rglob("*.py"):
        assert inspect.cleandoc(ast.get_docstring(ast.parse(path.read_text())) or ""), path


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_the_zoo_of_every_kata_has_enough_right_and_wrong_entries(kata: Kata) -> None:
    right, wrong = list(zoo.right(kata)), list(zoo.wrong(kata))
    least_right, least_wrong = (5, 15) if kata.track == "core" else (3, 8)
    assert len(right) >= least_right
    assert len(wrong) >= least_wrong
    assert all(entry.words for entry in right + wrong), "each says what is unusual or wrong about it"


def test_a_zoo_entry_whose_patch_does_not_fit_is_refused() -> None:
    with pytest.raises(CallError, match="'gone' stands 0 times"):
        zoo.made_wrong("x", "solution", {"replace": [["gone", "here"]]})
    with pytest.raises(CallError, match="it is the solution"):
        zoo.made_wrong("x", "solution", {"source": "solution"})


def test_patches_are_named_after_mistakes() -> None:
    tables = {
        "patches": {"unscaled": ["a", "b"], "he": {"he_normal": ["a", "c"], "he_uniform": [["a", "d"], ["e", "f"]]}},
        "with_bias": {"breaks": "no bias"},
    }
    assert dict(zoo.entries(course().katas["linear"], tables)) == {
        "unscaled": {"looks_like": "unscaled", "replace": ["a", "b"]},
        "he_normal": {"looks_like": "he", "replace": ["a", "c"]},
        "he_uniform": {"looks_like": "he", "replace": [["a", "d"], ["e", "f"]]},
        "with_bias": {"breaks": "no bias"},
    }
    assert zoo.made_wrong("x", "a + e", {"replace": ["a", "b"]}) == "b + e"
    assert zoo.made_wrong("x", "a + e", {"replace": [["a", "d"], ["e", "f"]]}) == "d + f"


def test_two_zoo_entries_of_one_name_are_refused() -> None:
    tables = {"patches": {"he": ["a", "b"]}, "he": {"breaks": "no ReLU follows"}}
    with pytest.raises(CallError, match=r"linear/wrong\.toml: two entries are called 'he'"):
        list(zoo.entries(course().katas["linear"], tables))


def test_a_mistakes_sentence_describes_its_patch() -> None:
    kata = course().katas["adagrad"]
    words = {entry.name: entry.words for entry in zoo.wrong(kata)}
    assert words["epsilon_outside"] == "Mistake: the 1e-5 is added outside the square root"
    assert words["mean_of_the_squares"] == "Breaks: g2 is a sum, not a mean over the steps"
    assert zoo.sentence(kata, {"looks_like": "other_epsilon"}) == "the number inside the root is eps, not 1e-5"


def test_the_lock_file_agrees_with_the_constraints_and_names_the_public_index_alone() -> None:
    text = (ROOT / "uv.lock").read_text("utf-8")
    locked: dict[str, set[str]] = {}
    for package in tomllib.loads(text)["package"]:
        locked.setdefault(package["name"], set()).add(package.get("version", ""))
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    pinned.pop("pip")  # which uv does without
    assert {name: version for name, version in pinned.items() if version not in locked[name.lower()]} == {}
    assert set(re.findall(r'"(https?://[^/"]+)', text)) == {"https://pypi.org", "https://files.pythonhosted.org"}


def test_the_lock_file_knows_every_dependency_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (ours,) = (
        one for one in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"] if one["name"] == "torchkata"
    )
    wanted = {name_of(text) for text in project["project"]["dependencies"]}
    wanted |= {name_of(text) for extra in project["project"]["optional-dependencies"].values() for text in extra}
    assert {one["name"] for one in ours["metadata"]["requires-dist"]} == wanted
    for group, texts in project["dependency-groups"].items():
        named = {name_of(text) for text in texts if isinstance(text, str)}
        assert named <= {one["name"] for one in ours["metadata"]["requires-dev"][group]}, group


def name_of(requirement: str) -> str:
    """Of a package, as an index writes it."""
    return canonicalize_name(Requirement(requirement).name)


WORKFLOWS = [*ROOT.glob(".github/workflows/*.yml"), *(ROOT / "grader/commands").rglob("*.yml")]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_workflow_names_its_actions_by_commit_and_may_only_read(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action)] == []
