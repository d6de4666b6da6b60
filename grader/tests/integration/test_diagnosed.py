"""What a failure looks like is read by students and stored by the grader, and changes nothing else."""

import json
from pathlib import Path

from grader.tests.conftest import grade, run
from grader.tests.handed_in import changed, work

EPSILON = ('torch.sqrt(state["g2"] + 1e-5)', '(torch.sqrt(state["g2"]) + 1e-5)')
LINE = "  looks like: the 1e-5 is added outside the square root"


def test_pytest_prints_the_diagnosis_above_the_command_that_runs_the_test_again(tmp_path: Path) -> None:
    folder = work(tmp_path, adagrad=changed("adagrad", *EPSILON))
    out = run("pytest", f"--impl={folder}", "--kata", "adagrad", "-k", "add_up", "--seed", "7").out.splitlines()
    assert out[out.index(LINE) + 1].startswith("  again: pytest tests/test_adagrad.py::test_squared_gradients_add_up")


def test_the_grader_stores_the_diagnosis_in_the_result(tmp_path: Path) -> None:
    folder = work(tmp_path / "ada", adagrad=changed("adagrad", *EPSILON))
    done = grade(folder, "--out", tmp_path / "out", "--kata", "adagrad", "--examples", 20)
    assert done.code == 0, done.err
    (graded,) = json.loads((tmp_path / "out/ada/result.json").read_text())["katas"]
    said = {test["name"]: test.get("diagnosis") for test in graded["tests"]}
    assert said["test_squared_gradients_add_up"] == LINE.removeprefix("  looks like: ")
    assert said["test_the_state_holds_g2"] is None
    assert all(f"  looks like: {test['diagnosis']}" in test["message"] for test in graded["tests"] if test["diagnosis"])


def test_a_diagnosis_changes_neither_verdicts_nor_smallest_inputs(tmp_path: Path) -> None:
    folder = work(
        tmp_path,
        linear=changed("linear", "x @ self.weight", "torch.relu(x @ self.weight)"),
        sgd=changed("sgd", 'alpha=-group["lr"]', 'alpha=-self.param_groups[0]["lr"]'),
    )
    command = ["pytest", f"--impl={folder}", "--hypothesis-profile", "grade", "--examples", "40", "--seed", "3"]
    command += ["--kata", "linear", "--kata", "sgd"]
    with_it, without = run(*command), run(*command, "-p", "no:torchkata.diagnose")
    assert "  looks like: " in with_it.out
    assert "  looks like: " not in without.out
    lines = [line for line in with_it.out.splitlines() if not line.startswith("  looks like: ")]
    assert lines[:-1] == without.out.splitlines()[:-1], "but for the last line, which tells the time"


def test_a_right_solution_gets_no_diagnosis() -> None:
    out = run("pytest", "--impl", "solution", "--kata", "sgd", "--kata", "linear", "--examples", "20").out
    assert "looks like" not in out
