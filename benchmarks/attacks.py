"""What the same hostile submissions gain in plain pytest, in one process, and here. Run: python -m benchmarks.attacks

Only attacks that do no harm outside a sandbox; as root they run as a user that owns nothing. The exit code and the
report are read as an autograder without suspicion reads them.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT
from benchmarks.timing import table
from grader.pipeline.collect import Tests
from grader.pipeline.submission import Submission
from grader.pipeline.workplace import with_workplace
from grader.proof.attack_run import EXAMPLES, AttackRun, Trial
from grader.proof.attacks import Attack, attacks
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course

NEEDED = ("torchkata",)
JOBS = 2
SECONDS = 20.0
MEMORY = 8 * 2**30  # of addresses; torch alone takes more than half
NOBODY = 65_534
# As root: become nobody, who may still read a Python that lies in root's own directory.
SETPRIV = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)


@dataclass(frozen=True)
class Told:
    """What plain pytest told about a submission."""

    exit_code: int | None  # None for one that never ended
    points: float  # of the tests that its report calls passed


def main() -> None:
    """Try each in both ways and print by class."""
    corpus = [a for a in attacks(list(course().katas.values())) if a.entry.plain and a.entry.code]
    with tempfile.TemporaryDirectory(prefix="torchkata-plain-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        copy_project(home / "project")
        bases = list({attack.base().id: attack for attack in corpus}.values())
        with ThreadPoolExecutor(JOBS) as pool:
            honest = dict(
                zip(
                    [attack.base().id for attack in bases],
                    pool.map(lambda attack: tell(attack.base(), attack.kata, home), bases),
                    strict=True,
                )
            )
            told = list(pool.map(lambda attack: tell(handed_in(attack), attack.kata, home), corpus))
    trials: list[Trial] = []

    def use(tests: Tests, sandbox: Sandbox) -> None:
        trials.extend(AttackRun(corpus, "bwrap").run(tests, sandbox, JOBS, lambda _: None))

    with_workplace("bwrap", EXAMPLES, print, use, profile="prove")
    show(corpus, told, honest, trials)


def handed_in(attack: Attack) -> Submission:
    """The hostile submission. Raises RuntimeError for one that the grader refused to read."""
    if attack.hostile.submission is None:
        raise RuntimeError(f"{attack.title}: {attack.hostile.refusal}")
    return attack.hostile.submission


def copy_project(project: Path) -> None:
    """What plain pytest needs of this project, for everybody to read."""
    known = [path.relative_to(ROOT).as_posix() for path in course().rules()]
    stubs = [path.relative_to(ROOT).as_posix() for path in course().assignment.glob("*.py")]
    for name in dict.fromkeys((*NEEDED, *known, *stubs)):
        source, target = ROOT / name, project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copyfile(source, target)


def tell(submission: Submission, kata: Kata, home: Path) -> Told:
    """Run a kata's tests on a submission in one process of plain pytest."""
    with tempfile.TemporaryDirectory(dir=home) as folder:
        own = Path(folder)
        for name, content in submission.files.items():
            (own / name).write_bytes(content)
        if os.getuid() == 0:
            shutil.chown(own, NOBODY, NOBODY)
        own.chmod(0o755)
        report = own / "report.xml"
        command = [sys.executable, "-B", "-m", "pytest", str(home / f"project/tests/test_{kata.name}.py")]
        command += [f"--rootdir={home / 'project'}", f"--config-file={home / 'project/pyproject.toml'}", "-p"]
        command += ["no:cacheprovider", f"--impl={own}", "--hypothesis-profile=prove", f"--examples={EXAMPLES}"]
        code = run([*command, "--seed=0", f"--junitxml={report}"], own)
        return Told(code, points(report, kata))


def run(command: Sequence[str], own: Path) -> int | None:
    """The exit code; None where it had to be killed."""
    process = subprocess.Popen(
        [*(SETPRIV if os.getuid() == 0 else ()), *command],
        cwd=own,
        env={"PATH": "/usr/bin:/bin", "HOME": str(own), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=limit,
    )
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def limit() -> None:
    """Nothing that fills a disk or the memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**28, 2**28))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def points(report: Path, kata: Kata) -> float:
    """The points of the tests that a report calls passed."""
    try:
        cases = ET.parse(report).iter("testcase")
        passed = {case.get("name") for case in cases if not any(child.tag in ("failure", "error") for child in case)}
    except (OSError, ET.ParseError):
        return 0.0
    return sum(worth for name, worth in kata.points.items() if name in passed)


def show(corpus: Sequence[Attack], told: Sequence[Told], honest: Mapping[str, Told], trials: Sequence[Trial]) -> None:
    """By class: how many plain pytest believed, what they gained there, and here."""
    here = {trial.attack.title: trial for trial in trials}
    rows = [("attacks tried in both", "plain pytest", "here, isolation bwrap")]
    for group in dict.fromkeys(attack.group for attack in corpus):
        those = [(attack, there) for attack, there in zip(corpus, told, strict=True) if attack.group == group]
        gains = [max(0.0, there.points - honest[attack.base().id].points) for attack, there in those]
        believed = sum(there.exit_code == 0 or gain > 0 for (_, there), gain in zip(those, gains, strict=True))
        zero = sum(there.exit_code == 0 for _, there in those)
        gained = sum(here[attack.title].gained for attack, _ in those)
        plain = f"{believed} succeed: {zero} with exit code 0, {sum(gains):g} points gained"
        rows.append((f"{group.replace('_', ' ')}: {len(those)}", plain, f"{gained:g} points gained"))
    table(rows)


if __name__ == "__main__":
    for tool in ("bwrap", "setpriv") if os.getuid() == 0 else ("bwrap",):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is needed, for hostile code is run")
    main()
