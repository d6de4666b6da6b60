"""Failures are diagnosed: pytest prints the diagnosis, the grader stores it, and nothing else changes."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from grader.tests.conftest import grade, run
from grader.tests.support.submissions import edit_solution, write_assignment

EPSILON = ('torch.sqrt(state["g2"] + 1e-5)', '(torch.sqrt(state["g2"]) + 1e-5)')
LINE = "the 1e-5 is added outside the square root"


def test_failures_with_same_diagnosis_are_grouped(tmp_path: Path) -> None:
    folder = write_assignment(
        tmp_path, same_storage="def same_storage(x, y):\n    return x.data_ptr() == y.data_ptr()\n"
    )
    out = run("pytest", f"--impl={folder}", "--kata", "same_storage", "--seed", "3").out
    (block,) = [block for block in out.split("\n\n") if block.startswith("same_storage · ")]
    assert "looks like: compares x.data_ptr() with y.data_ptr()" in block
    assert "same_storage(x, x[1:])\n  expected  True\n  yours     False\n" in block
    _, _, others = block.partition("  same failure in: ")
    assert others.startswith("test_"), others


def test_grader_stores_the_diagnosis(tmp_path: Path) -> None:
    folder = write_assignment(tmp_path / "ada", adagrad=edit_solution("adagrad", *EPSILON))
    done = grade(folder, "--out", tmp_path / "out", "--kata", "adagrad", "--examples", 20)
    assert done.code == 0, done.err
    (graded,) = json.loads((tmp_path / "out/ada/result.json").read_text())["katas"]
    said = {test["name"]: test.get("diagnosis") for test in graded["tests"]}
    assert said["test_g2_sums_squared_grads"] == LINE
    assert said["test_state_contains_g2"] is None
    assert all(f"  looks like: {test['diagnosis']}" in test["message"] for test in graded["tests"] if test["diagnosis"])


def test_diagnosis_changes_neither_verdicts_nor_inputs(tmp_path: Path) -> None:
    folder = write_assignment(
        tmp_path,
        linear=edit_solution("linear", "x @ self.weight", "torch.relu(x @ self.weight)"),
        sgd=edit_solution("sgd", 'alpha=-group["lr"]', 'alpha=-self.param_groups[0]["lr"]'),
    )
    command = ["pytest", f"--impl={folder}", "--hypothesis-profile", "grade", "--examples", "40", "--seed", "3"]
    command += ["--kata", "linear", "--kata", "sgd"]
    told = []
    for name, options in (("with", ()), ("without", ("-p", "no:torchkata.pytest_plugin.search"))):
        run(*command, f"--junitxml={tmp_path / name}", *options)
        cases = ElementTree.parse(tmp_path / name).iter("testcase")
        told.append({case.get("name"): [failure.text or "" for failure in case.iter("failure")] for case in cases})
    with_it, without = told
    assert any("  looks like: " in text for texts in with_it.values() for text in texts)
    assert not any("  looks like: " in text for texts in without.values() for text in texts)
    assert {
        name: [re.sub(r"  (looks like: |always ).*\n", "", text) for text in texts] for name, texts in with_it.items()
    } == without
