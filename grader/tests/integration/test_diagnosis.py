"""A diagnosis is only added to the message of a failure: nothing else changes."""

import re
from pathlib import Path
from xml.etree import ElementTree

from grader.tests.conftest import run
from grader.tests.support.submissions import edit_solution, write_assignment


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
