"""`grader similar`: copies all students' code to folders that a plagiarism detector can read.

compare50 1: https://cs50.readthedocs.io/projects/compare50; JPlag 4 to 6: https://github.com/jplag/JPlag/wiki; MOSS:
https://theory.stanford.edu/~aiken/moss.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from grader.base.errors import CallError, convert_write_errors
from grader.base.terminal import create_console
from grader.output.summary import print_problems
from grader.pipeline.download import find_submissions
from grader.pipeline.intake import pseudonymize, take_in
from grader.pipeline.submission_ids import Entry, Refusal, assign_ids
from torchkata.course import course

Files: TypeAlias = Mapping[str, bytes]  # keyed by file name


def run_similar(given: Sequence[Path], folders: Path, katas: Sequence[str], pseudonyms: Path | None) -> int:
    """Write the folders. Return 2 if a submission cannot be read.

    Raises CallError if no submission can be read or a folder can't be written.
    """
    handed = find_submissions(given)
    entries, refused = assign_ids(handed.submissions, handed.loose)
    if pseudonyms is not None:
        entries, refused = pseudonymize(entries, refused, pseudonyms, folders)
    stubs = {f"{kata}.py": course().stub(kata).read_bytes() for kata in katas}
    submissions = read_files(entries, stubs, refused)
    print_problems(create_console(stderr=True), [*map(str, refused)])
    if not submissions:
        raise CallError("no readable submission to compare")
    write_folders(submissions, stubs, folders)
    for line in list_commands(stubs, folders):
        create_console().print(line, markup=False, soft_wrap=True)
    return 2 if refused else 0


def read_files(entries: Sequence[Entry], stubs: Files, refused: list[Refusal]) -> dict[str, Files]:
    """Return the files of each submission, except unchanged stubs. Unreadable submissions are added to `refused`."""
    found: dict[str, Files] = {}
    for entry in entries:
        submission = take_in(entry)
        if isinstance(submission, Refusal):
            refused.append(submission)
        else:
            files = submission.files.items()
            found[entry.id] = {name: source for name, source in files if source != stubs.get(name)}
    return found


def write_folders(submissions: Mapping[str, Files], stubs: Files, to: Path) -> None:
    """Write TO/submissions (with a folder for each submission) and TO/stubs.

    Raises CallError if TO is not empty or can't be written.
    """
    with convert_write_errors(f"--folders {to}"):
        if to.exists() and any(to.iterdir()):
            raise CallError(f"--folders {to}: is not empty; choose a new directory")
        folders = {to / "stubs": stubs} | {to / "submissions" / id: files for id, files in submissions.items()}
        for folder, files in folders.items():
            folder.mkdir(parents=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)


def list_commands(stubs: Files, to: Path) -> list[str]:
    """Return the command line for each detector, quoted for a shell."""
    code, base = (shlex.quote(str(to / name)) for name in ("submissions", "stubs"))
    bases = " ".join(f"-b {shlex.quote(str(to / 'stubs' / name))}" for name in stubs)
    return [
        f"compare50 {code}/* -d {base}/* -p structure -o {shlex.quote(str(to / 'compare50'))}",
        f"java -jar jplag.jar -l python3 -bc {base} {code}",
        f"moss -l python -d {bases} {code}/*/*.py",
    ]
