"""A class's code as other detectors take it: JPlag a folder for each hand-in, Dolos a list of files for each kata.

JPlag 4 to 6: https://github.com/jplag/JPlag/wiki/1.-How-to-Use-JPlag (directory submissions; -bc is a path);
Dolos 2: https://dolos.ugent.be/docs/running and https://dolos.ugent.be/docs/adding-metadata (info.csv).
"""

import csv
import io
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grader.base.errors import CallError


def write_folders(files: Mapping[str, Mapping[str, bytes]], stubs: Mapping[str, bytes], to: Path) -> list[str]:
    """Write TO/jplag and TO/dolos of each one's files, and TO/stubs; the lines that run either. Raises CallError."""
    try:
        if to.exists() and any(to.iterdir()):
            raise CallError(f"--folders {to}: there is something in it already")
        put(to / "stubs", stubs.items())
        for name, own in files.items():
            put(to / "jplag" / name, own.items())
        for name in stubs:
            handed_in = [(f"{one}.py", own[name]) for one, own in files.items() if name in own]
            listed = ("info.csv", listing([file for file, _ in handed_in]))
            put(to / "dolos" / name.removesuffix(".py"), [*handed_in, listed])
    except OSError as error:
        raise CallError(f"--folders {to}: can't write there ({error.strerror})") from None
    jplag = f"java -jar jplag.jar -l python3 -bc {quoted(to / 'stubs')} {quoted(to / 'jplag')}"
    lists = {name: to / "dolos" / name.removesuffix(".py") / "info.csv" for name in stubs}
    return [
        jplag,
        *(f"dolos run -l python -i {quoted(to / 'stubs' / name)} {quoted(path)}" for name, path in lists.items()),
    ]


def quoted(path: Path) -> str:
    """As a shell takes it."""
    return shlex.quote(str(path))


def put(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files into a new folder. Raises OSError."""
    folder.mkdir(parents=True)
    for name, content in files:
        (folder / name).write_bytes(content)


def listing(files: Sequence[str]) -> bytes:
    """The list that Dolos reads: names as they are, for no spreadsheet."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["filename"], *([name] for name in files)])
    return out.getvalue().encode()
