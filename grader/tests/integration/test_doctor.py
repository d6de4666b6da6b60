"""`grader doctor` looks for real, and names the command that mends what is missing."""

import json
import os
from pathlib import Path

import pytest

from grader.commands.doctor import machine
from grader.sandbox.launch import GRADER_MIB
from grader.tests.conftest import run
from torchkata.course import course


@pytest.mark.usefixtures("needs_bwrap")
def test_doctor_finds_that_this_machine_can_grade_in_a_sandbox() -> None:
    done = run("grader", "doctor", "--json")
    assert done.code == 0, done.err
    assert "works and hides protected files" in done.err
    assert "Submissions can be graded in a sandbox on this machine." in done.err
    assert done.err.count("Isolation: bwrap, as ") == 1
    told = json.loads(done.out)
    assert (told["schema"], told["exit_code"], told["sandbox"]) == ("torchkata/doctor/v1", 0, True)
    found = {finding["what"]: finding["state"] for finding in told["findings"]}
    for what in ("Python", "torch", "hypothesis", "memory", "cores", "git", "GPU", "Slurm", "shared memory"):
        assert what in done.err
        assert found[what] in ("ok", "note")


def test_doctor_says_how_to_install_a_missing_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("grader", "doctor")
    assert done.code == 3
    assert "bubblewrap is not installed" in done.out
    assert "apt-get install bubblewrap" in done.out
    assert "missing: sandbox." in done.out
    assert done.out.count("Isolation: none. ") == 1


@pytest.mark.usefixtures("needs_bwrap")
def test_doctor_says_why_bubblewrap_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.launch.build_bwrap_command", lambda *_: ["bwrap", "--old-option"])
    finding = machine.check_sandbox()
    said = "bwrap: Unknown option --old-option; bubblewrap 0.5 or newer is needed"
    assert (finding.state, finding.found) == ("missing", said)
    monkeypatch.setattr("grader.sandbox.launch.build_bwrap_command", lambda *_: ["/nowhere/bwrap"])
    finding = machine.check_sandbox()
    assert (finding.state, finding.found) == ("missing", "/nowhere/bwrap: No such file or directory")


@pytest.mark.usefixtures("needs_bwrap")
def test_doctor_names_a_file_that_a_worker_should_not_be_able_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.pipeline.setup.list_hidden_files", lambda: ["/usr"])
    finding = machine.check_sandbox()
    assert (finding.state, finding.found) == ("missing", "a worker can read /usr")


def test_doctor_checks_the_versions_of_python_and_of_the_packages_that_grading_needs() -> None:
    assert machine.check_python((3, 10, 2)).state == "missing"
    assert machine.check_python((3, 12, 0)).state == "ok"
    found = {finding.what: finding for finding in machine.check_packages()}
    assert {"torch", "numpy", "hypothesis", "msgspec"} <= set(found)
    assert "ruff" not in found
    assert all(finding.state == "ok" for finding in found.values())


def test_doctor_says_how_to_update_a_package_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.doctor.machine.metadata.version", lambda _: "0.0.1")
    torch = next(machine.check_packages())
    assert (torch.what, torch.state, torch.remedy) == ("torch", "missing", "pip install --group students")
    assert torch.found.startswith("0.0.1, needs >=")


def test_doctor_asks_a_copy_that_is_not_installed_for_the_courses_packages_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.base.distribution.NAME", "not-installed-anywhere")
    assert machine.check_python((3, 12, 0)).state == "ok"
    assert {finding.what for finding in machine.check_packages()} == {"torch", "einops", "jaxtyping"}


def test_doctor_says_when_there_is_too_little_memory(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 819200 kB\n")
    finding = machine.check_memory(tmp_path)
    assert finding.state == "note"
    assert finding.found.startswith("800 MiB free, enough for --jobs 0")
    assert finding.remedy == f"free {GRADER_MIB + course().limits.memory_mib - 800} MiB more"


def test_doctor_counts_the_memory_limit_of_a_container(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 64000000 kB\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.current").write_text(f"{2**30}\n")
    for most, jobs in ((4 * 2**30, 2), ("max", 60)):
        (tmp_path / "sys/fs/cgroup/memory.max").write_text(f"{most}\n")
        assert f"--jobs {jobs} " in machine.check_memory(tmp_path).found


def test_doctor_says_how_a_container_is_started_that_lets_a_sandbox_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine.remedy_in_container(tmp_path) == ""
    (tmp_path / ".dockerenv").touch()
    assert machine.remedy_in_container(tmp_path).startswith("docker run --user 1000 --security-opt seccomp=unconfined ")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/.containerenv").touch()
    assert machine.remedy_in_container(tmp_path).startswith("podman run --user 1000 ")
    status = tmp_path / "status"
    for held, may in (("00000000a80425fb", False), ("000001ffffffffff", True)):
        status.write_text(f"Name:\tgrader\nCapEff:\t{held}\n")
        assert machine.may_administer(status) == may
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(machine, "may_administer", lambda: False)
    assert machine.check_user_namespaces().state == "note"


@pytest.mark.parametrize(
    ("user", "sandboxed", "words"),
    [
        (
            0,
            True,
            "Isolation: bwrap, as root, with a separate user for each submission. Not prevented: a worker's false ",
        ),
        (
            1000,
            True,
            "Isolation: bwrap, as an ordinary user. Not prevented: a worker's false reports about its own objects, ",
        ),
        (
            0,
            False,
            "Isolation: none. Not prevented: code can read outside files, write some of them and see other processes; ",
        ),
        (
            1000,
            False,
            "Isolation: none. Not prevented: code can read outside files, write some of them and see other processes; ",
        ),
    ],
)
def test_doctor_says_in_one_line_which_level_is_reached_and_what_that_leaves_open(
    monkeypatch: pytest.MonkeyPatch, user: int, sandboxed: bool, words: str
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: user)
    line = machine.describe_isolation(sandboxed=sandboxed)
    assert line.startswith(words)
    assert "\n" not in line
