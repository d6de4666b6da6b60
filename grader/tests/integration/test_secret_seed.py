"""Inputs that nobody knows ahead: the seed is drawn for a directory of results, kept there, and told to no student."""

import json
import zipfile
from pathlib import Path

from grader.pipeline.seed import draw
from grader.tests.conftest import Run, call_grader, run
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE, write_submissions


def call(path: Path, out: Path) -> list[str]:
    """Return the arguments of `grader grade`, as an instructor types them."""
    return [*map(str, ("--course", PRIMES, "grade", path, "--out", out, "--kata", "sieve", "--examples", 20))]


def grade(path: Path, out: Path, *options: str) -> Run:
    """Grade one submission."""
    return run("grader", *call(path, out), *options)


def again(path: Path, out: Path) -> Run:
    """Grade the submission once more, where nothing is left to be graded."""
    return call_grader(*call(path, out))


def test_the_seed_is_kept_with_the_results_and_no_student_reads_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (right,) = write_submissions(tmp_path, SIEVE, "right", kata="sieve")
    (wrong,) = write_submissions(tmp_path, WRONG_SIEVE, "wrong", kata="sieve")
    assert grade(right, out).code == 0
    seed = (out / ".seed").read_text().strip()
    assert len({seed, *(str(draw()) for _ in range(3))}) > 1, "it is drawn"
    assert "were already graded" in again(right, out).out
    live = tmp_path / "results.json"
    assert grade(wrong, out, "--gradescope", str(live)).code == 0
    assert (out / ".seed").read_text().strip() == seed
    results = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    assert [str(result["seed"]) for result in results] == [seed, seed]
    assert call_grader("--course", PRIMES, "report", out, "--feedback", tmp_path / "pages").code == 0
    page = (tmp_path / "pages/wrong/feedback.html").read_text()
    told = [test["message"] for result in results for kata in result["katas"] for test in kata["tests"]]
    assert "again: pytest" in "".join(told)
    for text in (live.read_text(), page, *told):
        assert seed not in text
        assert "--seed" not in text


def test_a_seed_that_is_said_is_the_one_of_the_next_run_too(tmp_path: Path) -> None:
    (right,) = write_submissions(tmp_path, SIEVE, "right", kata="sieve")
    out = tmp_path / "out"
    assert grade(right, out, "--seed", "7").code == 0
    assert "were already graded" in again(right, out).out
    (out / ".seed").write_text("seven")
    refused = again(right, out)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "expected the number" in refused.err


def test_each_package_has_a_seed_of_its_own(tmp_path: Path) -> None:
    said = []
    for name in ("one.zip", "other.zip"):
        done = call_grader("package", "gradescope", tmp_path / name)
        assert done.code == 0, done.err
        with zipfile.ZipFile(tmp_path / name) as archive:
            said.append(archive.read("options").decode().split())
    seeds = [options[options.index("--seed") + 1] for options in said]
    assert seeds[0] != seeds[1]
