"""Tests of the examples in the stubs and of the calculations in texts, and of the code that checks them."""

from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.support.examples import Untrue, collect_names, find_problems, run_example
from grader.tests.support.solution import SOLUTION
from torchkata.course import Course, course
from torchkata.course.current import read_course


@pytest.mark.parametrize("folder", ["", "examples/courses/primes"])
def test_examples_and_calculations_in_texts_are_true(folder: str) -> None:
    done = run("grader.tests.support.examples", str(ROOT / folder), *read_course(ROOT / folder).katas)
    assert (done.code, done.out) == (0, ""), done.err


@pytest.mark.parametrize(
    "example",
    [
        "underflows(-1e-3, torch.float8_e4m3fn), underflows(0.0, torch.float16)     # True, False: 0 was 0 before",
        "largest(torch.float16)     # 65505",
        "largest(torch.float16)     # 65504 = 2**16",
        "storage_bytes((4, 8), torch.float32), 3     # 128",
        "x = storage_bytes((), torch.bfloat16)     # x = 4",
        "torch.tensor([0.5, 0.8306])     # [0.5, 0.829...]",
    ],
)
def test_wrong_example_in_kata_text_is_detected(example: str) -> None:
    with pytest.raises(Untrue):
        run_example(example, collect_names("floating_point", SOLUTION))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Example:", "For one:", "assignment/floating_point.py: add an example with its value as a comment"),
        ("# 448.0", "# 449.0", "assignment/floating_point.py: the example does not run with the solution: got 448.0"),
        ("to nearest,", "to 2 + 2 = 5 or", "assignment/floating_point.py: 2 + 2 = 5: the left side is 4.0"),
        ("`torch.finfo", "`torch.finfos", "assignment/floating_point.py: torch.finfos does not exist"),
    ],
)
def test_wrong_text_is_reported(
    old: str, new: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "floating_point.py"
    stub.write_text(course().stub("floating_point").read_text("utf-8").replace(old, new), "utf-8")
    monkeypatch.setattr(Course, "stub", lambda _self, _kata: stub)
    assert any(found.startswith(problem) for found in find_problems("floating_point", SOLUTION))
