"""Invalid calls of `grader` print a one-line error message, exit with code 2, and write no files."""

import shlex
import shutil
from pathlib import Path

import pytest

from grader.results.result import write
from grader.tests.conftest import Run, call_grader, grade
from grader.tests.support.sample_results import make_result
from grader.tests.support.submissions import PRIMES

COMMIT = "0123456789" * 4


def assert_refused(done: Run, *words: str) -> None:
    assert done.code == 2
    assert len(done.err.strip().splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


BAD_CALLS = [  # in a folder with a file, the results of ada, and the folders ada, empty and other/ada
    ("grade nobody --out out", "nobody: no such file or directory"),
    ("grade ada --out out --kata lineal", "there is no kata or track 'lineal'; did you mean linear?"),
    ("grade ada --out file", "--out file: can't write there"),
    ("gradescope ada no/file.json --out out --seed 1", "no/file.json: there is no directory no"),
    ("report empty", "empty: contains no results"),
    ("report nowhere", "nowhere: there is no such directory"),
    ("diff empty empty", "empty: contains no results"),
    ("diff nowhere nowhere", "nowhere: there is no such directory"),
    ("diff results results --out no/a.csv", "no/a.csv: can't write there (No such file or directory)"),
    ("export nowhere --format junit --out to", "nowhere: contains no results"),
    ("export results --format junit --out file/to", "can't write there"),
    ("export results --format sources --out other", "--out other: is not empty; choose a new directory"),
    ("export results --format junit --out to --field owner=ada", "--field can be used only with --format classroom50"),
    (
        "export results --format classroom50 --out to --accept-inconclusive --field owner",
        "--field owner: must have the form NAME=VALUE",
    ),
    (
        "export results --format classroom50 --out to --accept-inconclusive",
        "classroom50 needs classroom, assignment, owner, submission,",
    ),
    ("package gradescope --out new", "must end in .zip, because Gradescope expects a zip file"),
    ("package github --out file", "must be a directory for GitHub, not a file"),
    ("package github --out new --source https://example.org/g", "must be URL@COMMIT with all 40 digits of the commit"),
    ("package github --out new --source https://example.org/g@main", "since a branch can change"),
    (f"package github --out new --source 'a b@{COMMIT}'", "a b is not the URL of a repository"),
    (f"package github --out new --source @{COMMIT}", "nothing is not the URL of a repository"),
    (f"package github --out new --source --upload-pack=x@{COMMIT}", "is not the URL of a repository"),
    ("release --out new --language fr", "--language fr: the course's languages are en, zh"),
    ("release --out new --repository https://example.org", "--repository needs --notebooks"),
    ("release --out new --kata cores", "there is no kata or track 'cores'; did you mean core?"),
    ("export results --format xml --out to", "--format xml: unknown format; the formats are canvas, "),
    ("package moodle --out new", "moodle: unknown platform; the platforms are classroom50, "),
    ("certify --only messages", "--only messages needs --out"),
    ("grade ada --jobs 0 --out out", "Invalid value for '--jobs'"),
    ("grade ada --examples 0 --out out", "Invalid value for '--examples'"),
    ("grade ada --ouz out", "No such option: --ouz"),
    ("release new", "Missing option '--out'"),
    ("new kata core", "core: is the name of a track; choose another name"),
    ("new kata linear", "already exists"),
    ("new kata Second", "Second: not a valid name; use a Python module name in lowercase, such as moving_average"),
    ("new kata class", "class: not a valid name; use a Python module name in lowercase"),
    ("new kata third --kind poem", "--kind poem: unknown kind; the kinds are class, function"),
    ("new kata third --track none", "--track none: unknown track; the tracks are core, "),
    ("new course other", "is not empty; choose a new directory"),
    ("new course new --title 'a \"quote\"'", "must not contain quotes, backslashes or line breaks"),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    for name in ("ada", "other/ada"):
        (folder / name).mkdir(parents=True)
        (folder / name / "linear.py").touch()
    (folder / "empty").mkdir()
    (folder / "file").touch()
    write(make_result("why"), folder / "results")
    return folder


@pytest.mark.parametrize(("call", "words"), BAD_CALLS, ids=[call for call, _ in BAD_CALLS])
def test_invalid_call_is_rejected_without_writing_files(
    call: str, words: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)
    before = sorted(here.rglob("*"))
    assert_refused(call_grader(*shlex.split(call)), words)
    assert sorted(here.rglob("*")) == before


def test_grade_rejects_probe_that_workers_cannot_import(tmp_path: Path) -> None:
    course = shutil.copytree(PRIMES, tmp_path / "primes")
    probe = course / "tests/probes/sieve.py"
    probe.parent.mkdir()
    (probe.parent / "__init__.py").touch()
    probe.write_text("from tests.strategies import rows\n")
    options = ("--out", tmp_path / "out", "--examples", "5", "--isolation", "none")
    done = grade(course / "submissions/complete", *options, course=course)
    assert_refused(done, f"{probe}: can't be imported in a worker, which sees only tests/probes/", "tests.strategies")
