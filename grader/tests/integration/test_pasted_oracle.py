"""A handout contains the oracles: pasting the one of the last kata must not earn its points."""

from pathlib import Path

from grader.proof import zoo
from grader.results.result import read
from grader.tests.conftest import FEW, run
from grader.tests.support.submissions import work
from torchkata.course import course


def test_pasted_oracle_earns_at_most_a_third(tmp_path: Path) -> None:
    kata = course().katas["measure_step"]
    sources = {entry.name: entry.source for entry in zoo.load_wrong(kata)}
    submission = work(tmp_path / "ada", measure_step=sources["pasted_oracle"])
    options = ["--kata", kata.name, "--out", str(tmp_path / "results"), "--examples", str(FEW), "--seed", "0"]
    done = run("grader", "grade", str(submission), *options)
    assert done.code == 0, done.err
    result = read(tmp_path / "results/ada/result.json")
    assert 0 < result.score <= result.max_score / 3
