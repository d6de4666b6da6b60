"""Jobs for students' repositories and for a class: their steps are read from the YAML and run on bare repositories.

Nothing here has run on GitHub or GitLab.
"""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from grader.tests.conftest import FEW, Run, call_grader, run_program
from grader.tests.support.submissions import PRIMES, commit_all, run_git, write_traps

pytestmark = pytest.mark.usefixtures("needs_bwrap")
SAMPLE = ("all right", "refused", "a crash of the grader")  # the platforms differ only in their files
WORKFLOWS = {"github": ".github/workflows/grade.yml", "gitlab": ".gitlab-ci.yml"}
SUMMARIES = {"gitlab": "grading/summary.md", "gitlab-class": "torchkata/summary.md"}
SOLUTIONS = {f"assignment/{kata}.py": PRIMES / f"reference/{kata}/solution.py" for kata in ("sieve", "factorise")}
STUBS = {name: PRIMES / name for name in SOLUTIONS}
WRONG = {name: PRIMES / "submissions/subtly_wrong" / Path(name).name for name in SOLUTIONS}  # 21 points
COURSE = {f"tests/{kata}.py": PRIMES / f"assignment/{kata}.py" for kata in ("sieve", "factorise")}
VERSIONS = {"draft/sieve.py": PRIMES / "assignment/sieve.py", "final/sieve.py": SOLUTIONS["assignment/sieve.py"]}
CRASH = ("grader/commands/grade.py", "def run_grade(", "import os; os.abort()\n\n\ndef run_grade(")
NO_SANDBOX = ("grader/sandbox/launch.py", 'if isolation == "bwrap" and shutil.which("bwrap") is None:', "if True:")
BROKEN = ("tests/test_sieve.py", "    assert_equal(", "    raise KeyError(student)\n    assert_equal(")
NO_BUBBLEWRAP = "    grader: isolation bwrap does not work here: bubblewrap is not installed"
REFUSED = "This repository can't be graded. The reason is below."
NEXT_STEP = ": run this job again, and if that does not help, "


@dataclass(frozen=True)
class Case:
    """A repository, what is wrong with the grader in it, and what becomes of the job."""

    files: Mapping[str, Path]
    code: int
    line: str  # above the summary
    summary: str  # part of the rest
    spoiled: tuple[str, str, str] | None = None  # a file of the grader, and what is replaced in it
    require: float | None = None


CASES = {
    "all right": Case(SOLUTIONS, 0, "", "100 of 100 points"),
    "stubs": Case(STUBS, 1, "0 of 100 points. This job needs 100.", "not started"),
    "enough points": Case(WRONG, 0, "", "21 of 100 points", require=21),
    "too few points": Case(WRONG, 1, "21 of 100 points. This job needs 21.5.", "21 of 100 points", require=21.5),
    "no folder assignment": Case(
        COURSE, 1, "This repository can't be graded. The reason is below.", "contains no kata"
    ),
    "refused": Case(VERSIONS, 1, "This repository can't be graded. The reason is below.", "is in draft and final"),
    "a broken test": Case(
        SOLUTIONS,
        3,
        f"Some tests could not be graded. This is not your fault{NEXT_STEP}tell your instructor.",
        "(`factorise`) | 50 of 50",
        BROKEN,
    ),
    "a crash of the grader": Case(
        SOLUTIONS,
        3,
        f"The grader failed. This is not your fault{NEXT_STEP}show this page to your instructor.",
        f"    {Path(sys.executable).name}: exit code -6",
        CRASH,
    ),
    "no sandbox": Case(
        SOLUTIONS,
        3,
        f"The grader failed. This is not your fault{NEXT_STEP}show this page to your instructor.",
        NO_BUBBLEWRAP,
        NO_SANDBOX,
    ),
}


def package(platform: str, out: Path, *options: object) -> Run:
    arguments = ("--seed", 0, "--examples", FEW, "--force", *options)
    return call_grader("--course", PRIMES, "package", platform, "--out", out, *arguments)


def make_repository(folder: Path, platform: str, case: Case) -> Path:
    """Return a bare repository with a student's files and the package."""
    work = folder / "template"
    for name, source in case.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, work / name)
    options = () if case.require is None else ("--require", case.require)
    assert package(platform, work, *options).code == 0
    if case.spoiled:
        spoil(work, case.spoiled)
    run_git(folder, "clone", "--bare", "-q", str(commit_all(work)), "bare.git")
    return folder / "bare.git"


def spoil(work: Path, spoiled: tuple[str, str, str]) -> None:
    """Replace a text in a file of the package."""
    name, old, new = spoiled
    (path,) = work.glob(f".git*/torchkata/torchkata/{name}")
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def list_steps(platform: str, checkout: Path) -> Iterator[dict[str, Any]]:
    """Yield the steps of the job in the form of GitHub's: `run`, or `uses` and `with`, and perhaps `if`."""
    host = platform.removesuffix("-class")
    workflow = yaml.safe_load((checkout / WORKFLOWS[host]).read_text("utf-8"))
    if host == "github":
        yield from workflow["jobs"]["grade"]["steps"]
        return
    job = workflow["grade"]
    for line in job["script"]:
        yield {"run": line}
    kept = "\n".join([*job["artifacts"]["paths"], *job["artifacts"].get("reports", {}).values()])
    always = {"if": "always()"} if job["artifacts"]["when"] == "always" else {}
    yield {"uses": "actions/upload-artifact", "with": {"path": kept}, **always}


@dataclass(frozen=True)
class Job:
    """A finished job: the exit code of the first step that failed, its output, its summary, and what it uploaded."""

    code: int
    out: str
    summary: str
    kept: set[str]


def run_job(platform: str, bare: Path, folder: Path, prepare: Callable[[Path], object] | None = None) -> Job:
    """Run the steps in a clone of a repository, as the platform does, with this Python as that of the grader."""
    checkout, temp = folder / "work/hw1-ada", folder / "temp"
    run_git(folder, "clone", "-q", str(bare), str(checkout))
    if prepare:
        prepare(checkout)
    temp.mkdir(exist_ok=True)  # a second run finds the results of the first, as from the cache
    page = temp / "page"
    on_github = platform.startswith("github")
    variables = {"RUNNER_TEMP": str(temp), "GITHUB_STEP_SUMMARY": str(page)} if on_github else {}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(temp), **variables}
    code, out, kept = 0, "", set[str]()
    for step in list_steps(platform, checkout):
        if code and "always()" not in step.get("if", ""):
            continue
        if command := step.get("run"):
            done = run_program(
                *("bash", "-e", "-c", command),
                cwd=checkout,
                environment={**environment, "TORCHKATA_PYTHON": sys.executable},
            )
            code, out = code or done.code, out + done.out + done.err
        elif step["uses"].startswith("actions/upload-artifact"):
            places = [Path(line.replace("${{ runner.temp }}", str(temp))) for line in step["with"]["path"].split("\n")]
            kept = {place.name for place in places if place.name and (checkout / place).exists()}
    summary = page if on_github else checkout / SUMMARIES[platform]
    return Job(code, out, summary.read_text("utf-8") if summary.exists() else "", kept)


@pytest.mark.parametrize(
    ("platform", "name"), [*(("github", name) for name in CASES), *(("gitlab", name) for name in SAMPLE)]
)
def test_job_fails_and_says_why(platform: str, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    job = run_job(platform, make_repository(tmp_path, platform, case), tmp_path)
    assert job.code == case.code, job.out
    line, _, rest = job.summary.partition("\n\n") if case.line else ("", "", job.summary)
    assert line == (f"**{case.line}**" if case.line else "")
    assert case.summary in rest
    assert case.line in job.out
    is_crash = case.spoiled == CRASH
    expected = {"github": {"results", "summary.md"}, "gitlab": {"grading", *([] if is_crash else ["junit.xml"])}}
    assert job.kept == expected[platform]


def test_job_fetches_grader_and_executes_no_file(tmp_path: Path) -> None:
    assert package("github", tmp_path / "whole").code == 0
    origin = commit_all(tmp_path / "whole/.github/torchkata/torchkata")
    bare = make_repository(tmp_path, "github", Case(WRONG, 0, "", ""))
    source = f"file://{origin}@{run_git(origin, 'rev-parse', 'HEAD')}"

    def prepare(checkout: Path) -> None:
        shutil.rmtree(checkout / ".github/torchkata/torchkata")
        assert package("github", checkout, "--source", source).code == 0
        write_traps(checkout, tmp_path / "mark")

    job = run_job("github", bare, tmp_path, prepare)
    assert not (tmp_path / "mark").exists()
    assert job.summary.startswith("**21 of 100 points. This job needs 100.**\n\n## hw1&#45;ada: 21 of 100 points")
    assert "\n::error file=assignment/factorise.py," in job.out
    kept = {path.name for path in (tmp_path / "temp/torchkata/results").iterdir()}
    assert kept == {"gradebook.csv", "junit.xml", "hw1-ada", ".seed"}


def test_required_points_must_be_possible(tmp_path: Path) -> None:
    refused = package("gitlab", tmp_path / "out", "--require", 101)
    assert (refused.code, refused.err) == (2, "grader: --require 101: these katas have only 100 points\n")
    refused = package("classroom50", tmp_path / "out", "--require", 1)
    why = "grader: --require is for github and gitlab, where a job fails below these points\n"
    assert (refused.code, refused.err) == (2, why)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def class_api() -> Iterator[str]:
    """Serve the list of an organisation with 104 repositories, of which 102 can't be cloned, and return its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            found = urlsplit(self.path).path == "/repos" and self.headers["Authorization"] == "Bearer secret"
            self.send_response(200 if found else 404)
            self.end_headers()
            names = ["template", "notes", *(f"hw1-{number}" for number in range(102))]
            first = 100 * (int(query["page"][0]) - 1)
            page = [{"clone_url": f"/nowhere/{name}.git"} for name in names[first : first + 100]]
            self.wfile.write(json.dumps(page).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/repos"
        server.shutdown()


def make_class(folder: Path, platform: str, lines: Sequence[str], spoiled: tuple[str, str, str] | None = None) -> Path:
    """Return the bare repository of the staff, whose list contains three students and the given lines."""
    for name, files in {"hw1-ada": SOLUTIONS, "hw1-ben": WRONG, "hw1-eve": VERSIONS}.items():
        for path, source in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name / path)
        commit_all(folder / name)
    students = [f"file://{folder}/hw1-{name}" for name in ("ada", "ben", "eve")]
    staff = folder / "staff"
    staff.mkdir()
    (staff / "repositories.txt").write_text("\n".join(["# ours", *students, *lines]))
    assert package(platform, staff).code == 0
    if spoiled:
        spoil(staff, spoiled)
    run_git(folder, "clone", "--bare", "-q", str(commit_all(staff)), "bare.git")
    return folder / "bare.git"


@pytest.mark.parametrize("platform", ["github-class", "gitlab-class"])
def test_class_job_grades_repositories_in_list(platform: str, tmp_path: Path) -> None:
    job = run_job(platform, make_class(tmp_path, platform, []), tmp_path)
    assert job.code == 0, job.out
    assert "cloned 3 of 3 repositories" in job.out
    assert "| hw1&#45;ada | 100 of 100 | 2 of 2 |\n| hw1&#45;ben | 21 of 100 | 0 of 2 |" in job.summary
    assert "hw1-eve: " in job.summary, "the reason for which it can't be read"
    assert job.kept == {"results", "summary.md"}
    assert [*tmp_path.glob("**/results/report.html")]


def test_class_job_keeps_results_and_names_missing_repository(tmp_path: Path) -> None:
    bare = make_class(tmp_path, "github-class", [f"{tmp_path}/hw1-fay.git"])
    job = run_job("github-class", bare, tmp_path)
    assert job.code == 1
    assert job.summary.startswith("**Not every repository could be cloned.")
    assert "    hw1-fay: can't be cloned: fatal: " in job.summary
    for place in ("work", "temp/class"):
        shutil.rmtree(tmp_path / place)
    (tmp_path / "hw1-ben/assignment/sieve.py").write_bytes(SOLUTIONS["assignment/sieve.py"].read_bytes())
    commit_all(tmp_path / "hw1-ben")
    again = run_job("github-class", bare, tmp_path)
    assert "1 of 2 were already graded" in again.out
    assert "| hw1&#45;ben | 60 of 100 |" in again.summary


def test_class_job_that_refuses_to_begin_fails(tmp_path: Path) -> None:
    bare = make_class(tmp_path, "gitlab-class", [], NO_SANDBOX)
    job = run_job("gitlab-class", bare, tmp_path)
    assert (job.code, job.summary.partition("\n")[0]) == (
        3,
        "**The grader failed with exit code 3. The end of its messages is below.**",
    )
    assert NO_BUBBLEWRAP in job.summary


def test_package_written_again_keeps_seed_and_list(tmp_path: Path) -> None:
    command = ("--course", PRIMES, "package", "github-class", "--out", tmp_path)
    assert call_grader(*command).code == 0
    options = (tmp_path / ".github/torchkata/options").read_text()
    (tmp_path / "repositories.txt").write_text("mine")
    assert call_grader(*command, "--force", "--examples", FEW).code == 0
    again = (tmp_path / ".github/torchkata/options").read_text()
    assert again == options.replace("--examples 100", f"--examples {FEW}")
    assert (tmp_path / "repositories.txt").read_text() == "mine"


def test_class_job_fails_if_a_test_is_broken(tmp_path: Path) -> None:
    job = run_job("github-class", make_class(tmp_path, "github-class", [], BROKEN), tmp_path)
    assert job.code == 3
    assert job.summary.startswith("**A test is broken or could not be graded. The reason is below.**")
    assert "KeyError" in job.summary


def test_class_can_be_listed_by_an_api(tmp_path: Path, class_api: str) -> None:
    listed, script = tmp_path / "listed", tmp_path / "staff/.gitlab/torchkata/grade_class.py"
    assert package("gitlab-class", tmp_path / "staff").code == 0
    assert (tmp_path / "staff/repositories.txt").read_text().startswith("# The repositories to grade.")
    for line, code, out in (
        (f"all {class_api} hw1-", 0, "cloned 0 of 102 repositories"),
        (f"all {class_api}/missing", 2, f"{class_api}/missing: can't be listed: HTTP Error 404"),
        ("# nobody", 2, f"{listed}: lists no repository"),
        ("a/same.git\nb/same", 2, f"{listed}: two repositories are called same"),
    ):
        listed.write_text(line)
        environment = {**os.environ, "CLASS_TOKEN": "secret"}
        done = run_program(
            *(sys.executable, "-I", str(script), "clone", str(listed), str(tmp_path / f"class{len(line)}")),
            environment=environment,
        )
        assert (done.code, (done.out or done.err).startswith(out)) == (code, True), done.out + done.err
