"""Inputs that nobody knows ahead: the seed is drawn for a directory of results, kept there, and told to no student."""

import json
import zipfile
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import Run, ask, run
from grader.tests.handed_in import PRIMES, SIEVE, WITHOUT_TWO, handed_in
from grader.tests.solution import SOLUTION

KATA = "flop_accounting"
LISTEN = """

import builtins, functools, json

def _listening(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        answer = function(*args, **kwargs)
        with builtins.open({log!r}, "a") as file:
            file.write(json.dumps([name, repr((args, kwargs)), repr(answer)]) + "\\n")
        return answer
    return call

for _name, _value in list(globals().items()):
    if callable(_value) and getattr(_value, "__module__", "") == __name__:
        globals()[_name] = _listening(_name, _value)
"""
LOOK_UP = "def {name}(*args, **kwargs):\n    return eval(TABLE[{name!r}].get(repr((args, kwargs)), '0'))\n"


def call(path: Path, out: Path, course: Path, kata: str) -> list[str]:
    """`grader grade`, as an instructor types it."""
    said = ("--course", course, "grade", path, "--out", out, "--kata", kata, "--examples", 20)
    return [str(part) for part in said]


def grade(path: Path, out: Path, *options: str, course: Path = PRIMES, kata: str = "sieve") -> Run:
    """Grade one submission."""
    return run("grader", *call(path, out, course, kata), *options)


def again(path: Path, out: Path) -> Run:
    """The same once more, where nothing is left to be graded."""
    return ask(*call(path, out, PRIMES, "sieve"))


def score(out: Path) -> float:
    """The share of the points that the one submission earned."""
    (path,) = out.glob("*/result.json")
    result = json.loads(path.read_text())
    return float(result["score"] / result["max_score"])


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A submission that knows the answers to all that seed 0 asks, and nothing else."""
    folder, log = tmp_path_factory.mktemp("listening"), tmp_path_factory.mktemp("log") / "calls"
    source = (SOLUTION / f"{KATA}.py").read_text()
    (folder / f"{KATA}.py").write_text(source + LISTEN.format(log=str(log)))
    asked = ("--hypothesis-profile=grade", "--examples=20", "--seed=0")
    done = run("pytest", f"--impl={folder}", f"--kata={KATA}", *asked)
    assert done.code == 0, done.out
    answers: dict[str, dict[str, str]] = {}
    for name, given, answer in map(json.loads, log.read_text().splitlines()):
        answers.setdefault(name, {})[given] = answer
    written = tmp_path_factory.mktemp("table")
    functions = "".join(LOOK_UP.format(name=name) for name in answers)
    (written / f"{KATA}.py").write_text(f"TABLE = {answers!r}\n{functions}")
    return written


def test_a_table_of_answers_is_worth_what_its_author_knew_of_the_seed(table: Path, tmp_path: Path) -> None:
    assert grade(table, tmp_path / "known", "--seed", "0", course=ROOT, kata=KATA).code == 0
    assert grade(table, tmp_path / "secret", course=ROOT, kata=KATA).code == 0
    assert score(tmp_path / "known") == 1
    assert score(tmp_path / "secret") == 0


def test_the_seed_is_kept_with_the_results_and_no_student_reads_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (right,) = handed_in(tmp_path, SIEVE, "right", kata="sieve")
    (wrong,) = handed_in(tmp_path, WITHOUT_TWO, "wrong", kata="sieve")
    assert grade(right, out).code == 0
    seed = (out / ".seed").read_text().strip()
    assert "had been graded before" in again(right, out).out
    live = tmp_path / "results.json"
    assert grade(wrong, out, "--gradescope", str(live)).code == 0
    assert (out / ".seed").read_text().strip() == seed
    results = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    assert [str(result["seed"]) for result in results] == [seed, seed]
    assert ask("--course", PRIMES, "report", out, "--feedback", tmp_path / "pages").code == 0
    page = (tmp_path / "pages/wrong/feedback.html").read_text()
    told = [test["message"] for result in results for kata in result["katas"] for test in kata["tests"]]
    assert "again: pytest" in "".join(told)
    for text in (live.read_text(), page, *told):
        assert seed not in text
        assert "--seed" not in text


def test_a_seed_that_is_said_is_the_one_of_the_next_run_too(tmp_path: Path) -> None:
    (right,) = handed_in(tmp_path, SIEVE, "right", kata="sieve")
    out = tmp_path / "out"
    assert grade(right, out, "--seed", "7").code == 0
    assert "had been graded before" in again(right, out).out
    (out / ".seed").write_text("seven")
    refused = again(right, out)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "should be the number" in refused.err


def test_each_package_has_a_seed_of_its_own(tmp_path: Path) -> None:
    said = []
    for name in ("one.zip", "other.zip"):
        done = ask("package", "gradescope", tmp_path / name)
        assert done.code == 0, done.err
        with zipfile.ZipFile(tmp_path / name) as archive:
            said.append(archive.read("options").decode().split())
    seeds = [options[options.index("--seed") + 1] for options in said]
    assert seeds[0] != seeds[1]
