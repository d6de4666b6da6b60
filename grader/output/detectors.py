"""A class's code as other detectors take it: JPlag a folder for each hand-in, Dolos a list of files for each kata.

JPlag 6: https://github.com/jplag/JPlag/wiki/1.-How-to-Use-JPlag (root directory, directory submissions, base code);
Dolos 2: https://dolos.ugent.be/docs/running and https://dolos.ugent.be/docs/adding-metadata (info.csv).
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grader.base.errors import CallError

BASE = "BaseCode"  # the stubs, beside the hand-ins


def write_folders(files: Mapping[str, Mapping[str, bytes]], stubs: Mapping[str, bytes], to: Path) -> list[str]:
    """Write TO/jplag and TO/dolos of each one's files; the lines that run either. Raises CallError."""
    base = BASE
    while base.casefold() in map(str.casefold, files):
        base += "_"
    try:
        if to.exists() and any(to.iterdir()):
            raise CallError(f"--folders {to}: there is something in it already")
        for name, own in {base: stubs, **files}.items():
            put(to / "jplag" / name, own.items())
        for name in stubs:
            handed_in = [(f"{one}.py", own[name]) for one, own in files.items() if name in own]
            folder = to / "dolos" / name.removesuffix(".py")
            put(folder, [*handed_in, ("info.csv", listed([file for file, _ in handed_in]))])
    except OSError as error:
        raise CallError(f"--folders {to}: can't write there ({error.strerror})") from None
    given = to / "jplag" / base
    return [
        f"java -jar jplag.jar -l python3 -bc {given} {to / 'jplag'}",
        *(
            f"dolos run -l python -i {given / name} {to / 'dolos' / name.removesuffix('.py') / 'info.csv'}"
            for name in stubs
        ),
    ]


def put(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a new folder. Raises OSError."""
    folder.mkdir(parents=True)
    for name, content in files:
        (folder / name).write_bytes(content)


def listed(files: Sequence[str]) -> bytes:
    """The list that Dolos reads: names as they are, for no spreadsheet."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["filename"], *([name] for name in files)])
    return out.getvalue().encode()
