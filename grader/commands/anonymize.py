"""`grader anonymize`: copies the submissions of a class under new names, so that graders do not see whose they are."""

import secrets
from pathlib import Path

import msgspec

from grader.base.errors import CallError, convert_write_errors
from grader.base.files import write_whole
from grader.base.terminal import create_console
from grader.base.text import count, list_names
from grader.marks.pseudonyms import read_key
from grader.options import Layout
from grader.output.summary import print_problems
from grader.pipeline.intake import take_in_all
from grader.pipeline.layouts import find_submissions
from grader.pipeline.submission_ids import Refusal, assign_ids


def run_anonymize(given: Path, out: Path, key: Path, layout: Layout = "folders") -> int:
    """Copy the files that `grader grade` would read to OUT/<new name>/. Return 2 if a submission can't be read.

    Only these files are copied: an archive can name its owner in its folders and headers, and a repository in its
    commits. Raises CallError, before anything is written, if OUT or KEYFILE can't be used or nothing can be read.
    """
    check_places(given, out, key)
    known = read_names(key)
    found = find_submissions([given], layout)
    entries, refused = assign_ids(found.submissions, found.loose)
    submissions = {}
    for submission in take_in_all(entries):
        if isinstance(submission, Refusal):
            refused.append(submission)
        else:
            submissions[submission.id] = submission.files
    console = create_console()
    if found.passed_over:
        console.print(f"skipped:   {list_names(found.passed_over)}")
    print_problems(create_console(stderr=True), [f"not copied: {refusal}" for refusal in refused])
    if not submissions:
        raise CallError(f"{given}: contains no readable submission")
    names = known | {one: f"student-{secrets.token_hex(5)}" for one in submissions.keys() - known.keys()}
    with convert_write_errors(key):
        content = msgspec.json.encode({new: real for real, new in names.items()})
        write_whole(key, msgspec.json.format(content, indent=1))
        key.chmod(0o600)
    with convert_write_errors(out):
        for new, real in sorted((names[real], real) for real in submissions):  # in an order that reveals no name
            (out / new).mkdir(parents=True)
            for name, content in submissions[real].items():
                (out / new / name).write_bytes(content)
    console.print(f"copied:    {count(len(submissions), 'submission')} to {out}")
    console.print(f"key:       {key} (for `grader marks`, name it pseudonyms.json)")
    return 2 if refused or found.list_skipped_code() else 0


def check_places(given: Path, out: Path, key: Path) -> None:
    """Raise CallError if OUT is not empty, or if graders of OUT would find the real names."""
    with convert_write_errors(out):
        if out.exists() and any(out.iterdir()):
            raise CallError(f"{out}: is not empty; choose a new directory")
    if out.resolve().is_relative_to(given.resolve()):
        raise CallError(f"{out}: must not be in {given}, whose entries are submissions")
    if key.resolve().is_relative_to(out.resolve()):
        raise CallError(f"{key}: must not be in {out}, where graders would find the names")


def read_names(key: Path) -> dict[str, str]:
    """Return the new name for each real name in an existing key. Raises CallError if a real name has two new ones."""
    names: dict[str, str] = {}
    for new, real in read_key(key).items():
        if names.setdefault(real, new) != new:
            raise CallError(f"{key}: {real} has two new names, {names[real]} and {new}; remove one")
    return names
