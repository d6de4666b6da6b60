"""`grader doctor` checks the machine and suggests a command to fix each problem."""

import json
import os
from importlib import metadata
from pathlib import Path

import pytest

from grader.commands.doctor import machine, run_doctor
from grader.sandbox.launch import GRADER_MIB
from grader.tests.conftest import run
from torchkata.course import course


@pytest.mark.usefixtures("needs_bwrap")
def test_doctor_finds_a_working_sandbox() -> None:
    done = run("grader", "doctor", "--json")
    assert done.code == 0, done.err
    assert "works and hides protected files" in done.err
    assert "Submissions can be graded in a sandbox on this machine." in done.err
    assert done.err.count("Isolation: bwrap, as ") == 1
    told = json.loads(done.out)
    assert (told["schema"], told["exit_code"], told["sandbox"]) == ("torchkata/doctor/v1", 0, True)
    found = {finding["what"]: finding["state"] for finding in told["findings"]}
    for what in ("Python", "torch", "hypothesis", "memory", "cores", "git", "GPU", "Slurm", "shared memory"):
        assert (what in done.err, found[what] in ("ok", "note")) == (True, True)


def test_doctor_explains_how_to_install_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run("grader", "doctor")
    words = ("bubblewrap is not installed", "apt-get install bubblewrap", "missing: sandbox.", "Isolation: none. ")
    assert (done.code, [text in done.out for text in words]) == (3, [True] * 4)


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        (
            "launch.build_bwrap_command",
            ["bwrap", "--old"],
            "bwrap: Unknown option --old; bubblewrap 0.5 or newer is needed",
        ),
        ("launch.build_bwrap_command", ["/nowhere/bwrap"], "/nowhere/bwrap: No such file or directory"),
        ("HIDDEN", ["/usr"], "a worker can read /usr"),
    ],
)
def test_doctor_explains_why_sandbox_fails(
    name: str, value: list[str], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "grader.pipeline.proven_sandbox.list_hidden_files" if name == "HIDDEN" else f"grader.sandbox.{name}"
    monkeypatch.setattr(target, lambda *_: value)
    finding = machine.check_sandbox()
    assert (finding.state, finding.found) == ("missing", found)


def test_doctor_checks_python_and_package_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [machine.check_python(version).state for version in ((3, 10, 2), (3, 12, 0))] == ["missing", "ok"]
    found = {finding.what: finding for finding in machine.check_packages()}
    assert {"torch", "numpy", "hypothesis", "msgspec"} <= set(found)
    assert "ruff" not in found
    assert all(finding.state == "ok" for finding in found.values())
    monkeypatch.setattr("grader.commands.doctor.machine.metadata.version", lambda _: "0.0.1")
    torch = next(machine.check_packages())
    assert (torch.what, torch.state, torch.remedy) == ("torch", "missing", "pip install --group students")
    assert torch.found.startswith("0.0.1, needs >=")


def test_doctor_names_packages_before_the_sandbox(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.1" if name == "einops" else installed(name))
    assert run_doctor() == 3
    told = capsys.readouterr().out
    assert (
        "can't be graded on this machine yet; install what is missing, then run grader doctor again: einops.\n" in told
    )
    assert "Isolation: not checked, because the sandbox needs the missing packages." in told
    assert "Isolation: none" not in told


def test_doctor_without_installed_grader_checks_only_course_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.base.distribution.NAME", "not-installed-anywhere")
    assert machine.check_python((3, 12, 0)).state == "ok"
    assert {finding.what for finding in machine.check_packages()} == {"torch", "einops", "jaxtyping", "plotille"}


def test_doctor_derives_jobs_from_free_memory(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 819200 kB\n")
    finding = machine.check_memory(tmp_path)
    assert (finding.state, finding.found.split(",")[0]) == ("note", "800 MiB free")
    assert "--jobs 0" in finding.found
    assert finding.remedy == f"free {GRADER_MIB + course().limits.memory_mib - 800} MiB more"
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 64000000 kB\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.current").write_text(f"{2**30}\n")
    for most, jobs in ((4 * 2**30, 2), ("max", 60)):
        (tmp_path / "sys/fs/cgroup/memory.max").write_text(f"{most}\n")
        assert f"--jobs {jobs} " in machine.check_memory(tmp_path).found


def test_doctor_suggests_container_options_for_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
