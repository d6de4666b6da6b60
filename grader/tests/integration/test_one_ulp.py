"""No verdict depends on the last bit of a result, which CPUs may round differently."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from grader.proof.zoo import load_right
from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.support.one_ulp import OneUlp
from grader.tests.support.solution import copy_course
from torchkata.course import Kata, course

X = torch.randn(8, 8, generator=torch.Generator().manual_seed(0))


def differentiate(x: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(x @ X, x, X)[0]


INEXACT: dict[str, Callable[[Tensor], Tensor]] = {
    "product": lambda x: x @ x,
    "scaled addition": lambda x: x.add(x, alpha=0.1),
    "in place": lambda x: x.clone().tanh_(),
    "list of tensors": lambda x: torch._foreach_exp([x])[0],
    "bfloat16": lambda x: x.bfloat16() @ x.bfloat16(),
    "float64": lambda x: x.double() @ x.double(),
    "gradient": differentiate,
}


@pytest.mark.parametrize("compute", INEXACT.values(), ids=INEXACT)
def test_inexact_results_change_by_one_ulp(compute: Callable[[Tensor], Tensor]) -> None:
    unchanged = compute(X)
    with OneUlp():
        moved, again = compute(X), compute(X)
    assert torch.equal(moved, again)
    up, down = (torch.nextafter(unchanged, torch.tensor(way, dtype=unchanged.dtype)) for way in (torch.inf, -torch.inf))
    assert ((moved == up) | (moved == down)).all()


def list_failures(code: bytes, kata: str, folder: Path, cwd: Path = ROOT, examples: int = 25) -> str:
    """Test code for a kata with changed results, next to the solutions of the other katas. Return pytest's summary."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in (course().solutions() | {f"{kata}.py": code}).items():
        (folder / name).write_bytes(content)
    plugins = ("-p", "grader.tests.support.one_ulp", "-p", "no:cacheprovider")
    options = (f"--impl={folder}", "--kata", kata, "--hypothesis-profile=grade", f"--examples={examples}", "--seed=0")
    done = run("pytest", *plugins, *options, cwd=cwd)
    assert done.code in (0, 1), done.out + done.err
    return "" if done.code == 0 else done.out


def test_overly_strict_test_is_found(tmp_path: Path) -> None:
    copy = copy_course(tmp_path / "course")
    tests = copy / "tests/test_linear_backward.py"
    tests.write_text(tests.read_text("utf-8").replace("scale=scales[name],", "scale=0.0, roundings=0.25,"), "utf-8")
    solution = course().solution("linear_backward").read_bytes()
    failures = list_failures(solution, "linear_backward", tmp_path / "submission", copy, examples=5)
    assert "test_grad_x_is_grad_y_at_w_transposed" in failures


@pytest.mark.timing
@pytest.mark.parametrize("kata", course().katas.values(), ids=lambda kata: kata.name)
def test_verdicts_survive_results_off_by_one_ulp(kata: Kata, tmp_path: Path) -> None:
    correct = {"solution": course().solution(kata.name).read_bytes()}
    correct |= {entry.name: entry.source.encode() for entry in load_right(kata)}
    for name, code in correct.items():
        assert list_failures(code, kata.name, tmp_path / "submission") == "", name
