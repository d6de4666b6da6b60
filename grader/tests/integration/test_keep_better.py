"""`--keep better` preserves points when the tests change, but not when the submitted files change."""

from pathlib import Path

from grader.results.result import read
from grader.tests.conftest import run
from grader.tests.support.submissions import OPTIONS, PRIMES, SIEVE, WRONG_SIEVE, write_submissions


def test_points_of_changed_files_are_not_kept(tmp_path: Path) -> None:
    (ada,) = write_submissions(tmp_path, SIEVE, "ada", kata="sieve")
    out = tmp_path / "out"
    scores = []
    for source in (SIEVE, WRONG_SIEVE):
        (ada / "sieve.py").write_text(source)
        call = ("--course", str(PRIMES), "grade", str(ada), "--out", str(out), *OPTIONS, "--keep", "better")
        assert run("grader", *call).code == 0
        scores.append(read(out / "ada/result.json").score)
    assert scores[1] < scores[0]
