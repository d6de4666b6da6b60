"""Packages from `grader package` are unpacked the way their platform unpacks them, and grade a submission."""

import json
import os
import shlex
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from grader.commands.package.project import copy_project
from grader.tests.conftest import FEW, Run, call_grader, grade, run_program
from grader.tests.integration.test_ci_jobs import CASES
from grader.tests.support.platforms import CLASSROOM50, RUNNER, parse_gradescope
from grader.tests.support.submissions import PRIMES, SIEVE, WRONG_SIEVE, commit_all, write_traps
from torchkata.course import read_course

HALF_DONE, WRONG = PRIMES / "submissions/half_done", PRIMES / "submissions/subtly_wrong"


def make_package(platform: str, out: Path, *more: object) -> Run:
    """Run `grader package` for a course without torch."""
    return call_grader("--course", PRIMES, "package", platform, "--out", out, "--seed=0", f"--examples={FEW}", *more)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the packages by platform; tests must not modify them."""
    folder = tmp_path_factory.mktemp("packages")
    for platform in ("github", "classroom50"):
        assert make_package(platform, folder / platform).code == 0
    assert make_package("gradescope", folder / "autograder.zip").code == 0
    with zipfile.ZipFile(folder / "autograder.zip") as archive:
        archive.extractall(folder / "gradescope")
    return folder


def call(*command: object, cwd: Path, **variables: str) -> Run:
    """Run a platform's command with this Python interpreter instead of the platform's."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TORCHKATA_PYTHON": sys.executable, **variables}
    return run_program(*command, cwd=cwd, environment=environment)


@pytest.fixture
def autograder(packages: Path, tmp_path: Path) -> Path:
    """Return a directory like the one that Gradescope creates, with the unpacked package in `source/`."""
    root = tmp_path / "autograder"
    shutil.copytree(packages / "gradescope", root / "source")
    for name in ("submission", "results"):
        (root / name).mkdir()
    metadata = {"id": 1, "users": [], "assignment": {}, "previous_submissions": []}
    (root / "submission_metadata.json").write_text(json.dumps(metadata))
    return root


def read_results(root: Path) -> dict[str, Any]:
    return parse_gradescope((root / "results/results.json").read_bytes())


@pytest.mark.sample
@pytest.mark.usefixtures("needs_bwrap")
def test_gradescope_package_installs_and_grades(autograder: Path) -> None:
    where = {"AUTOGRADER_ROOT": str(autograder)}
    done = call("bash", autograder / "source/setup.sh", cwd=autograder, **where)
    assert done.code == 0, done.err
    assert (autograder / "source").stat().st_mode & 0o777 == 0o700
    told = autograder / "source/torchkata/reference/sieve/kata.toml"
    told.write_text('visibility = "hidden"\n' + told.read_text())
    shutil.copytree(HALF_DONE, autograder / "submission", dirs_exist_ok=True)
    write_traps(autograder / "submission", autograder / "mark")
    shutil.copy(autograder / "source/run_autograder", autograder)
    done = call("bash", autograder / "run_autograder", cwd=autograder / "submission", **where)
    assert done.code == 0, done.err
    assert not (autograder / "mark").exists()
    report = read_results(autograder)
    assert report["score"] == 50
    assert report["extra_data"]["examples"] == FEW
    hidden = {test["tags"][0] for test in report["tests"] if test["visibility"] == "hidden"}
    assert hidden == {"sieve"}, "the grader must read the unpacked course, not this project"
    assert len(report["tests"]) == sum(len(kata.points) for kata in read_course(PRIMES).katas.values())


@pytest.mark.usefixtures("needs_bwrap")
def test_gradescope_reports_empty_submission(autograder: Path) -> None:
    where = {"AUTOGRADER_ROOT": str(autograder)}
    done = call("bash", autograder / "source/run_autograder", cwd=autograder, **where)
    assert done.code == 0, done.err
    assert "contains no kata" in read_results(autograder)["output"]


def test_gradescope_reports_insufficient_container_memory(autograder: Path, tmp_path: Path) -> None:
    results, killed = autograder / "results/results.json", tmp_path / "killed"
    where = {"AUTOGRADER_ROOT": str(autograder), "TORCHKATA_PYTHON": str(killed)}
    for others in ("kill -9 $$", f'exec {shlex.quote(sys.executable)} "$@"'):
        killed.write_text(f'#!/bin/sh\ncase "$*" in *grade*submission*) kill -9 $$ ;; esac\n{others}\n')
        killed.chmod(0o755)
        results.unlink(missing_ok=True)
        for score in (0, 5):  # before the first result; after some tests
            done = call("bash", autograder / "source/run_autograder", cwd=autograder, **where)
            report = read_results(autograder)
            assert (done.code, report["score"], report.get("tests", [])) == (137, score, [])
            if score == 0 or "exec" in others:
                assert "too little memory: this autograder needs 0.9 GB" in " ".join(report["output"].split())
            results.write_text('{"score": 5, "output": "stopped"}')


def test_gradescope_setup_reports_missing_packages(autograder: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S "$@"\n')
    bare.chmod(0o755)
    where = {"AUTOGRADER_ROOT": str(autograder), "TORCHKATA_PYTHON": str(bare)}
    done = call("bash", autograder / "source/setup.sh", cwd=autograder, **where)
    assert done.code == 1
    assert f"install.sh: {bare} lacks packages that the grader needs" in done.err


def test_github_workflow_has_no_secrets(packages: Path) -> None:
    workflow = yaml.safe_load((packages / "github/.github/workflows/grade.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["timeout-minutes"] <= 30
    (checkout,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"]["persist-credentials"] is False
    assert set(workflow[True]) == {"push", "workflow_dispatch"}, "YAML reads `on` as true"
    assert "--isolation bwrap" in (packages / "github/.github/torchkata/options").read_text()


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("name", ["a broken test", "refused", "a crash of the grader"])
def test_classroom50_says_what_was_not_graded(packages: Path, tmp_path: Path, name: str) -> None:
    case, bundle = CASES[name], shutil.copytree(packages / "classroom50", tmp_path / "bundle")
    if case.spoiled:
        spoiled, old, new = bundle / "torchkata" / case.spoiled[0], *case.spoiled[1:]
        spoiled.write_text(spoiled.read_text("utf-8").replace(old, new, 1), "utf-8")
    checkout, outputs = tmp_path / "checkout", tmp_path / "outputs"
    for path, source in case.files.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, checkout / path)
    runner = {**RUNNER, "GITHUB_OUTPUT": str(outputs)}
    done = call(sys.executable, bundle / "autograder.py", cwd=commit_all(checkout), **runner)
    assert case.line in (checkout / "release-body.md").read_text("utf-8")
    if name == "a crash of the grader":
        assert (done.code, (checkout / "result.json").exists()) == (1, False), "the runner reports it"
        return
    report = json.loads((checkout / "result.json").read_text())
    jsonschema.Draft202012Validator(CLASSROOM50).validate(report)
    open_tests = [test["test-name"] for test in report["tests"] if not test["passed"]]
    if name == "refused":
        assert open_tests == ["hand-in: sieve.py is in draft and final, and they differ: hand in one"]
        assert (report["score"], report["max-score"], outputs.exists()) == (0, 100, False)
    else:
        assert open_tests[0].endswith("(could not be graded; to be repeated)")
        assert outputs.read_text().startswith("status=error\nsummary=some tests could not be graded: ")


@pytest.mark.usefixtures("needs_bwrap")
def test_classroom50_package_grades_a_checkout(packages: Path, tmp_path: Path) -> None:
    bundle = shutil.copytree(packages / "classroom50", tmp_path / "bundle")
    assert json.loads((bundle / "runtime.json").read_text())["apt"] == ["bubblewrap", "libseccomp2"]
    checkout = shutil.copytree(WRONG, tmp_path / "checkout")
    (checkout / "result.json").write_text('{"score": 1000}')
    commit_all(write_traps(checkout, tmp_path / "mark"))
    runner = {name: value for name, value in RUNNER.items() if name != "SUBMITTED_AT"}
    done = call(sys.executable, bundle / "autograder.py", cwd=checkout, **runner)
    assert done.code == 0, done.err
    assert not (tmp_path / "mark").exists()
    report = json.loads((checkout / "result.json").read_text())
    jsonschema.Draft202012Validator(CLASSROOM50).validate(report)
    assert (report["score"], report["max-score"], report["owner"]) == (84, 400, "ada")
    assert report["datetime"] <= report["graded_at"]


def test_package_without_fallbacks_uses_students_prerequisites(packages: Path, tmp_path: Path) -> None:
    harmless = SIEVE.replace("    remains =", "    if n < 2:\n        return [0]\n    remains =", 1)
    sources = {"works": harmless, "breaks": WRONG_SIEVE, "lacks": None}
    for name, source in sources.items():
        (tmp_path / "class" / name).mkdir(parents=True)
        shutil.copy(PRIMES / "reference/factorise/solution.py", tmp_path / "class" / name / "factorise.py")
        if source is not None:
            (tmp_path / "class" / name / "sieve.py").write_text(source)
    course, folders = packages / "classroom50/torchkata", sorted((tmp_path / "class").iterdir())
    notes: dict[str, set[str]] = {}
    for kata in ("sieve,factorise", "factorise"):
        done = grade(*folders, "--out", tmp_path / kata, "--examples", FEW, "--kata", kata, course=course)
        assert done.code == 0, done.err
        for path in folders:
            tests = json.loads((tmp_path / kata / path.name / "result.json").read_text())["katas"][-1]["tests"]
            second = {test["message"].partition("\n")[2].partition("\n")[0] for test in tests if test["message"]}
            notes[f"{path.name}: {kata}"] = second
    open_kata, ungraded = (f"  note      builds on `sieve`, which is not {word} here" for word in ("done", "graded"))
    assert notes == {
        "works: sieve,factorise": set(),
        "breaks: sieve,factorise": {open_kata},
        "lacks: sieve,factorise": {open_kata},
        "works: factorise": set(),
        "breaks: factorise": {ungraded},
        "lacks: factorise": {ungraded},
    }


@pytest.mark.usefixtures("needs_bwrap")
def test_installation_executes_no_file_in_the_checkout(packages: Path, tmp_path: Path) -> None:
    shutil.copytree(packages / "classroom50", tmp_path / "bundle")
    (tmp_path / "checkout").mkdir()
    checkout, nothing = write_traps(tmp_path / "checkout", tmp_path / "mark"), tmp_path / "nothing"
    nothing.mkdir()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(nothing), "TORCHKATA_PYTHON": ""}
    done = call("bash", tmp_path / "bundle/install.sh", "../work", cwd=checkout, **offline)
    assert (done.code, "\nERROR: " in f"\n{done.err}") == (1, True), "pip must be called, and fail without a network"
    assert (tmp_path / "work/venv/bin/python").exists()
    assert not (tmp_path / "mark").exists()


def test_package_zip_is_reproducible(packages: Path, tmp_path: Path) -> None:
    assert make_package("gradescope", tmp_path / "a.zip").code == 0
    assert (tmp_path / "a.zip").read_bytes() == (packages / "autograder.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert (modes["setup.sh"], modes["run_autograder"], modes["options"]) == (0o755, 0o755, 0o644)


def test_package_force_option_replaces_only_the_grader(packages: Path, tmp_path: Path) -> None:
    out = shutil.copytree(packages / "github", tmp_path / "repository")
    (out / "assignment").mkdir()
    stale = out / ".github/torchkata/torchkata/tests/test_gone.py"
    stale.write_text("")
    refused = make_package("github", out)
    assert (refused.code, refused.err) == (2, f"grader: {out}: is not empty; use --force to overwrite it\n")
    assert stale.exists()
    assert make_package("github", out, "--force").code == 0
    assert not stale.exists()
    assert (out / "assignment").is_dir()


def test_package_has_the_tested_versions() -> None:
    assert "constraints.txt" in copy_project(["linear"], is_public=True)


def test_each_private_package_has_its_own_seed(tmp_path: Path) -> None:
    seeds = set()
    for name in ("one", "other"):
        assert call_grader("--course", PRIMES, "package", "gradescope", "--out", tmp_path / f"{name}.zip").code == 0
        with zipfile.ZipFile(tmp_path / f"{name}.zip") as archive:
            options = archive.read("options").decode().split()
        seeds.add(options[options.index("--seed") + 1])
    assert len(seeds) == 2
    assert call_grader("--course", PRIMES, "package", "classroom50", "--out", tmp_path / "public").code == 0
    assert "--seed" not in (tmp_path / "public/options").read_text(), "students can read this package"
