"""`grader similar`: whose hand-ins are more alike than others of the class, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from grader.base.errors import CallError
from grader.base.terminal import console
from grader.marks.pseudonyms import pseudonyms_for
from grader.output.detectors import write_folders
from grader.output.page.similar import PAGE, TABLE, write_page
from grader.output.summary import tell
from grader.pipeline.archives import SubmissionError
from grader.pipeline.download import hand_ins
from grader.pipeline.similarity.pairs import Comparison, compare, compared
from grader.pipeline.submission import read
from grader.pipeline.submission_ids import Entry, with_ids
from grader.results.text import printable
from torchkata.course import course

SHOWN = 10  # pairs on the terminal


@dataclass(frozen=True)
class Options:
    """The options of `grader similar`."""

    out: Path
    katas: tuple[str, ...]
    pairs: int
    folders: Path | None = None
    pseudonyms: Path | None = None


def run_similar(given: Sequence[Path], options: Options) -> int:
    """Write page and table; 2 where a hand-in can't be read. Raises CallError."""
    handed = hand_ins(given)
    entries, problems = with_ids(handed.submissions, handed.loose)
    if options.pseudonyms is not None:
        names = pseudonyms_for([entry.id for entry in entries], options.pseudonyms, options.out)
        entries = [replace(entry, id=names[entry.id]) for entry in entries]
    files = dict(handed_in(sorted(entries, key=lambda entry: entry.id), problems))
    tell(console(stderr=True), problems)
    if len(files) < 2:
        raise CallError("there are not two hand-ins to compare")
    stubs = {f"{kata}.py": course().stub(kata).read_bytes() for kata in options.katas}
    told = write_folders(files, stubs, options.folders) if options.folders else []
    katas = [
        compared(
            kata, stubs[f"{kata}.py"], {one: own[f"{kata}.py"] for one, own in files.items() if f"{kata}.py" in own}
        )
        for kata in options.katas
    ]
    found = compare(katas, list(files), options.pairs)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        write_page(found, len(files), lambda one, kata: files[one][f"{kata}.py"], options.out)
    except OSError as error:
        raise CallError(f"--out {options.out}: can't write there ({error.strerror})") from None
    show(found, options.out)
    for line in told:
        console().print(line, markup=False, soft_wrap=True)
    return 2 if problems else 0


def handed_in(entries: Sequence[Entry], problems: list[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The files of each, by id; what can't be read goes to `problems`."""
    for entry in entries:
        try:
            yield entry.id, read(entry.path, entry.files).files
        except SubmissionError as error:
            problems.append(entry.told(str(error)))


def show(found: Comparison, directory: Path) -> None:
    """The first pairs, what is too short, and where the rest is."""
    out = console()
    table = Table("pair", "", "bits", "most telling", box=box.SIMPLE_HEAD)
    for pair in found.pairs[:SHOWN]:
        telling = ", ".join(f"{one.kata} {one.share:.0%}" for one in pair.katas[:3])
        table.add_row(Text(printable(pair.first)), Text(printable(pair.second)), f"{pair.bits:.1f}", telling)
    if found.pairs:
        out.print(table)
    out.print(f"half of the class weigh at most {found.typical:.1f} bits with anybody; no points depend on this")
    if short := [f"{kata.kata} ({kata.same:.0%} of all pairs are the same)" for kata in found.katas if kata.too_short]:
        out.print(f"too short to tell: {', '.join(short)}", soft_wrap=True)
    for kata in found.katas:
        if kata.unparsed:
            out.print(f"no Python: {kata.kata}.py of {', '.join(kata.unparsed)}", markup=False, soft_wrap=True)
    out.print(f"pairs:     {directory / TABLE}", markup=False, soft_wrap=True)
    out.print(f"page:      {directory / PAGE}", markup=False, soft_wrap=True)
