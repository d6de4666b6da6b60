"""Tests of probes: calling them by name, and the arguments shown in a failure."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reference.linear import oracle
from tests import strategies
from torchkata.compare.assertions import assert_equal
from torchkata.course import course
from torchkata.diagnosis.explain import explain
from torchkata.inside.probes import call, call_methods
from torchkata.inside.reply import Probe, Reply
from torchkata.seam.failures import Crashed, Place, Wrong
from torchkata.seam.student import Call, InProcess, Student

SHOULD_SCALE = "def scale(x, /, factor, *, offset=0):\n    return [factor * number + offset for number in x]\n"


@pytest.fixture
def student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Student:
    """Return a student with a single file, which is also used as the stub that defines the parameter names."""
    (tmp_path / "scale.py").write_text(SHOULD_SCALE)
    monkeypatch.setattr(type(course()), "stub", lambda _, kata: tmp_path / f"{kata}.py")
    return Student(InProcess(tmp_path, course().limits))


def test_call_probe_finds_function_by_name(student: Student) -> None:
    assert student.call("scale", [1, 2], 3) == [3, 6]
    message = explain("test_scale", "scale", Wrong(note="wrong"), student.last, "pytest").message
    assert "  input     x = [1, 2]; factor = 3; scale(x, factor)\n" in message
    with pytest.raises(Crashed, match="does not define scald"):
        student.call("scale.scald", [1, 2], 3)


def test_graph_crosses_in_both_directions(student: Student, tmp_path: Path) -> None:
    (tmp_path / "scale.py").write_text("def scale(x):\n    return x\n")
    graph = {0: [(1, 2.5)], 1: []}
    assert_equal(student.call("scale", [graph]), [graph])
    with pytest.raises(Wrong) as wrong:
        assert_equal(student.call("scale", [graph]), [{0: [(1, 3.5)], 1: []}])
    assert (wrong.value.expected, wrong.value.yours) == ("[{0: [[1, 3.5]], 1: []}]", "[{0: [[1, 2.5]], 1: []}]")
    student.last = None
    with pytest.raises(TypeError, match=r"student.call: x contains \(dict with keys of type tuple\), but only"):
        student.call("scale", [{(0, 1): 2}])
    assert student.last is None, "the test is broken, whatever an answer is"


@pytest.mark.parametrize("kata", ["setting", "folder", "package", "reset", "forget", "import_kata"])
def test_kata_can_have_any_name(student: Student, tmp_path: Path, kata: str) -> None:
    for answer in (7, 8):
        (tmp_path / f"{kata}.py").write_text(f"def {kata}():\n    return {answer}\n")
        assert student.call(kata) == answer
        delattr(student.runner.assignment, kata)  # type: ignore[attr-defined]


def test_call_methods_returns_a_copy_after_each_call(student: Student, tmp_path: Path) -> None:
    (tmp_path / "scale.py").write_text(
        "class Bag:\n    def __init__(self, *items):\n        self.items = [*items]\n"
        "    def put(self, item):\n        self.items.append(item)\n        return self.items\n"
    )
    calls = [("put", 2), ("put", 3)]
    assert student.call(call_methods, "scale.Bag", [1], calls) == [[1, 2], [1, 2, 3]]
    message = explain("test_bag", "scale", Wrong(note="wrong"), student.last, "pytest").message
    assert "  input     bag = Bag(1); bag.put(2); bag.put(3)\n" in message
    with pytest.raises(Crashed, match="'Bag' object has no attribute 'take'"):
        student.call(call_methods, "scale.Bag", [], [("take",)])


@pytest.mark.parametrize("source", [None, "def scale(x", "def other(x):\n    pass\n", "def scale(*xs):\n    pass\n"])
def test_unnamed_arguments_are_numbered(student: Student, tmp_path: Path, source: str | None) -> None:
    (tmp_path / "scale.py").unlink() if source is None else (tmp_path / "scale.py").write_text(source)
    assert student is not None
    assert Call(call, ["scale", "scale", 1, 2]).inputs() == {"argument 1": 1, "argument 2": 2}


def nest() -> Probe:
    def nested(_assignment: object) -> int:
        return 1

    return nested


@pytest.mark.parametrize(
    ("probe", "name"),
    [
        (lambda _assignment: 1, r"<lambda> \(test_probes\.py, line \d+\)"),
        (nest(), r"nest\.<locals>\.nested \(test_probes\.py, line \d+\)"),
        (partial(call, function="f"), "partial"),
        (SimpleNamespace, "SimpleNamespace"),
        (strategies.permutation, r"permutation \(strategies\.py, line \d+\)"),
        (oracle.forward, r"forward \(oracle\.py, line \d+\)"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_importable_functions_are_accepted_as_probes(probe: Probe, name: str) -> None:
    runner: Any = SimpleNamespace(run_probe=lambda *_: pytest.fail("it is run"))
    with pytest.raises(TypeError, match=rf"^{name} is not a probe: a probe must be a module-level function in tests/"):
        Student(runner).call(probe)


def test_fallback_source_is_not_shown() -> None:
    replied = Reply("raised", None, "ValueError: x", "linear.py", 3, "a line of the fallback")
    runner: Any = SimpleNamespace(run_probe=lambda *_: replied)
    places = []
    for fallbacks in (frozenset[str](), frozenset({"linear.py"})):
        student = Student(runner)
        student.fallbacks = fallbacks
        with pytest.raises(Crashed) as crash:
            student.call("linear.f")
        places.append(crash.value.place)
    assert places == [Place("linear.py", 3, "a line of the fallback"), Place()]
