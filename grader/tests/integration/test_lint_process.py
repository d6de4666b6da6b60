"""The linter runs in a resource-limited process; its findings are stored and displayed, but cost no points."""

import json
import resource
import zipfile
from pathlib import Path

from grader.tests import ROOT
from grader.tests.conftest import grade, run_python

LIMITED = """
from grader.base.processes import limit_cpu, limit_memory
limit_cpu(1)
limit_memory(100)
try:
    bytearray(200 * 2**20)
except MemoryError:
    print("limited", flush=True)
while True:
    pass
"""


def test_resources_of_a_process_are_limited() -> None:
    done = run_python("-c", LIMITED)
    assert (done.code, done.out) == (-24, "limited\n")  # SIGXCPU
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY


def test_lint_findings_are_shown_and_cost_no_points(tmp_path: Path) -> None:
    source = (ROOT / "reference/sgd/right/torchs_own.py").read_text()
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr("sgd.py", source)
        archive.writestr("linear.py", "x = " + "-" * 200_000 + "1")
    out = tmp_path / "out"
    done = grade(tmp_path / "ada.zip", "--out", out, "--kata", "sgd", "--examples", 5)
    assert done.code == 0
    result = json.loads((out / "ada/result.json").read_text())
    text = "torch.optim.SGD: the step may use torch's optimizer instead of the student's"
    of_sgd, of_linear = sorted(result["findings"], key=lambda finding: finding["kata"], reverse=True)
    assert of_sgd == {"kata": "sgd", "line": 6, "text": text}
    assert of_linear["text"].endswith("could not be parsed")
    assert result["score"] == result["max_score"]
    assert f"  ada  sgd.py, line 6: {text}" in done.out
    assert (out / "gradebook.csv").read_text().splitlines()[1].endswith(',2,""')
