"""Random hostile entries in a class do not affect the other submissions.

`make prove` draws entries for minutes. It stores failures in `.hypothesis/`, and the next run replays them.
"""

import codecs
import contextlib
import csv
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from grader.commands.anonymize import read_names, run_anonymize
from grader.options import Layout
from grader.output.summary import rebuild
from grader.pipeline.layouts import find_submissions
from grader.pipeline.queue import Queue
from grader.pipeline.submission import Submission
from grader.pipeline.submission_ids import assign_ids
from grader.results.result import read
from grader.tests import ROOT
from grader.tests.support.hostile_class import make_entry
from grader.tests.support.hostile_entries import CANARY
from grader.tests.support.submissions import NAMES, SIEVE, make_options, write_submissions
from torchkata.course import course

pytestmark = pytest.mark.usefixtures("primes")

HONEST = NAMES[:3]
NOBODY = 54_321  # a user who owns no files
ROLES = (False, True) if os.geteuid() == 0 else (False,)  # whether to read as NOBODY
MOST = 1000  # maximum number of characters in a message about an entry
MINUTES = 5
AT_ONCE = 200  # number of entries between checks of the clock


@contextlib.contextmanager
def new_folder(*, nobody: bool) -> Iterator[Path]:
    """Yield a new folder. If `nobody` is True, run as a user without permission to read everything."""
    folder = Path(tempfile.mkdtemp(prefix="torchkata-intake-"))
    user = os.geteuid()
    codecs.lookup("cp437")  # `zipfile` needs it, and Python remembers a codec that NOBODY cannot read as unknown
    try:
        if nobody:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield folder
    finally:
        os.seteuid(user)
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)
        shutil.rmtree(folder)


def check_intake(chance: random.Random, *, nobody: bool) -> None:
    """Read a class with up to four hostile entries, and assert that they do not affect the honest submissions."""
    with new_folder(nobody=nobody) as folder:
        paths = write_submissions(folder / "class", SIEVE, *HONEST, kata="sieve")
        alone = read_class(paths, folder / "alone")
        for number in range(chance.randrange(1, 5)):
            make_entry(folder / "class", number, chance)
        names = sorted(path.name for path in (folder / "class").iterdir())
        note("\n".join(ascii(path) for path, _, files in os.walk(folder / "class") for path in (path, *files)))
        found = read_class([folder / "class"], folder / "out", "canvas")
        assert {name: found.get(name) for name in HONEST} == alone
        rows = list(csv.DictReader((folder / "out/gradebook.csv").open(newline="")))
        listed = find_submissions([folder / "class"], "canvas")
        assert len(rows) == sum(submission is None for submission in found.values())
        assert len(found) == len(listed.submissions) + len(listed.loose)
        loose = [path.name for files in listed.loose.values() for _, path in files]
        assert sorted([*(path.name for path in listed.submissions), *loose, *listed.passed_over]) == names
        run_anonymize(folder / "class", folder / "copy", folder / "key.json", "canvas")
        new_names = read_names(folder / "key.json")
        copied = read_class([folder / "copy"], folder / "out-of-copy", "folders")
        assert {new_names[name]: submission.files for name, submission in found.items() if submission} == {
            name: submission.files for name, submission in copied.items() if submission
        }
        assert CANARY not in "".join(copied)


def read_class(paths: list[Path], out: Path, layout: Layout | None = None) -> dict[str, Submission | None]:
    """Store the refusals and the gradebook, and return the submissions, keyed by id. Refused ones are None."""
    given = find_submissions(paths, layout)
    options = make_options(out, katas=("sieve",))
    queue = Queue(*assign_ids(given.submissions, given.loose), (course().katas["sieve"],), options)
    found: dict[str, Submission | None] = {job.submission.id: job.submission for job in queue.to_grade()}
    for refusal in queue.refused:
        assert refusal.entry.id not in found
        assert str(refusal).isprintable()
        assert len(str(refusal)) < MOST
        assert read(out / refusal.entry.id / "result.json").unreadable == refusal.reason
        found[refusal.entry.id] = None
    rebuild(out)
    return found


draw_entries = given(chance=st.randoms(use_true_random=False), nobody=st.sampled_from(ROLES))
USUAL = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


@draw_entries
@settings(USUAL, max_examples=30)
def test_random_entries_do_not_affect_other_submissions(chance: random.Random, nobody: bool) -> None:
    check_intake(chance, nobody=nobody)


@pytest.mark.timing
def test_many_random_entries_do_not_affect_other_submissions() -> None:
    stored = DirectoryBasedExampleDatabase(ROOT / ".hypothesis/examples")
    options = settings(USUAL, max_examples=AT_ONCE, derandomize=False, database=stored, print_blob=True)  # even in CI
    check = options(draw_entries(check_intake))
    end = time.monotonic() + 60 * MINUTES
    while time.monotonic() < end:
        check()
