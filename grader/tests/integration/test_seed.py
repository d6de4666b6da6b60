"""The secret seed of a run is drawn once per results directory, stored there, and hidden from students."""

import json
import zipfile
from pathlib import Path

from grader.pipeline.seed import draw
from grader.tests.conftest import Run, call_grader, run
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE, write_submissions


def list_arguments(path: Path, out: Path) -> list[str]:
    """Return the arguments of a `grader grade` command."""
    return [*map(str, ("--course", PRIMES, "grade", path, "--out", out, "--kata", "sieve", "--examples", 20))]


def grade(path: Path, out: Path, *options: str) -> Run:
    return run("grader", *list_arguments(path, out), *options)


def grade_again(path: Path, out: Path) -> Run:
    """Grade the class again, in this process."""
    return call_grader(*list_arguments(path, out))


def test_seed_is_stored_and_hidden_from_students(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (right,) = write_submissions(tmp_path, SIEVE, "right", kata="sieve")
    (wrong,) = write_submissions(tmp_path, WRONG_SIEVE, "wrong", kata="sieve")
    assert grade(right, out).code == 0
    seed = (out / ".seed").read_text().strip()
    assert len({seed, *(str(draw()) for _ in range(3))}) > 1, "the seed must be random"
    assert "were already graded" in grade_again(right, out).out
    live = tmp_path / "results.json"
    parts = ("--course", PRIMES, "gradescope", wrong, live, "--out", out, "--seed", seed)
    assert run("grader", *map(str, parts), "--kata", "sieve", "--examples", "20").code == 0
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
    (out / ".seed").write_text("seven")
    refused = grade_again(right, out)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "should contain one integer" in refused.err


def test_each_package_has_its_own_seed(tmp_path: Path) -> None:
    seeds = set()
    for name in ("one.zip", "other.zip"):
        assert call_grader("--course", PRIMES, "package", "gradescope", tmp_path / name).code == 0
        with zipfile.ZipFile(tmp_path / name) as archive:
            options = archive.read("options").decode().split()
        seeds.add(options[options.index("--seed") + 1])
    assert len(seeds) == 2


def test_package_that_students_can_read_has_no_seed(tmp_path: Path) -> None:
    for given, expected in (((), False), (("--seed", 7), True)):
        out = tmp_path / str(len(given))
        assert call_grader("--course", PRIMES, "package", "classroom50", out, *given).code == 0
        assert ("--seed 7" in (out / "options").read_text()) == expected
        assert ("--seed" in (out / "options").read_text()) == expected
