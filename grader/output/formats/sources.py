"""Writes the graded code to folders that a plagiarism detector can read, and prints the commands that compare it.

compare50 1: https://cs50.readthedocs.io/projects/compare50; JPlag 4 to 6: https://github.com/jplag/JPlag/wiki; MOSS:
https://theory.stanford.edu/~aiken/moss.
"""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.base.errors import CallError
from grader.options import ExportOptions
from grader.output.exporter import Exporter, Stored, convert_each
from grader.results.source import StoredSubmission, load_submission, truncate
from torchkata.course import course


def export(directory: Path, options: ExportOptions) -> list[str]:
    """Write TO/submissions/<id>/ with the files of each submission that differ from the stubs, and TO/stubs/.

    Return a line for each submission without stored code, and for each truncated file. Raises CallError if TO is not
    empty or no code is stored.
    """
    to = options.out
    if to.exists() and any(to.iterdir()):
        raise CallError(f"--out {to}: is not empty; choose a new directory")
    problems: list[str] = []
    stubs = read_stubs()

    def load(stored: Stored) -> StoredSubmission:
        found = load_submission(directory, stored.result.submission, stored.result.hand_in)
        if found is None or not found.files:
            raise ValueError(stored.result.unreadable or "the code is not stored; run `grader grade --again` again")
        return found

    for submission, found in convert_each(directory, load, problems):
        write_files(to / "submissions" / submission, {name: source.text for name, source in found.files.items()}, stubs)
        for name in (name for name, source in found.files.items() if not source.whole):
            problems.append(f"{submission}: {name} is so long that only its beginning is stored and compared")
    write_files(to / "stubs", stubs)
    for line in list_commands(stubs, to):
        print(line)
    return problems


def read_stubs() -> dict[str, str]:
    """Return the text of each stub of the course, in the form in which submitted files are stored."""
    paths = {f"{kata}.py": course().stub(kata) for kata in course().katas}
    return {name: truncate({name: path.read_bytes()})[name].text for name, path in paths.items() if path.is_file()}


def write_files(folder: Path, files: Mapping[str, str], without: Mapping[str, str] = {}) -> None:
    """Write the files to a new folder, except those that are equal to a file in `without`."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        if text != without.get(name):
            (folder / name).write_text(text, "utf-8", newline="")


def list_commands(stubs: Iterable[str], to: Path) -> list[str]:
    """Return the command line for each detector, quoted for a shell."""
    code, base = (shlex.quote(str(to / name)) for name in ("submissions", "stubs"))
    bases = " ".join(f"-b {shlex.quote(str(to / 'stubs' / name))}" for name in stubs)
    return [
        "Compare the submissions with one of these tools (first activate the environment in which it is installed):",
        f"compare50 {code}/* -d {base}/* -p structure -o {shlex.quote(str(to / 'compare50'))}",
        f"java -jar jplag.jar -l python3 -bc {base} {code}",
        f"moss -l python -d {bases} {code}/*/*.py",
    ]


EXPORTER = Exporter(export)
