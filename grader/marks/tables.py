"""The instructor's own tables: CSV with a header, separated by commas, semicolons or tabs, as spreadsheets write it."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from grader.base.errors import CallError

SEPARATORS = ",;\t"


def read_table(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> list[dict[str, str]]:
    """Its rows, each with all of these columns, "" where one is empty; further columns are passed over.

    Raises CallError, in one line that names the file and the place.
    """
    text = text_of(path).removeprefix("\ufeff")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator(text), strict=False))
    header = [name.strip().casefold() for name in rows[0]] if rows else []
    for name in needed:
        if name not in header:
            raise CallError(f"{path}: there is no column {name}; needed are {', '.join(needed)}")
    for name in (*needed, *optional):
        if header.count(name) > 1:
            raise CallError(f"{path}: there are two columns {name}")
    found: list[dict[str, str]] = []
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(header):
            raise CallError(f"{path}: row {number} has {len(row)} cells, and the header {len(header)}")
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        found.append({name: cells.get(name, "") for name in (*needed, *optional)})
        for name in needed:
            if not found[-1][name]:
                raise CallError(f"{path}: row {number} has no {name}")
    return found


def text_of(path: Path) -> str:
    """What is in a file, byte for byte. Raises CallError."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise CallError(f"{path}: is not UTF-8; save it as CSV UTF-8") from None


def separator(text: str) -> str:
    """The one that stands in the header most often."""
    header = text.partition("\n")[0]
    return max(SEPARATORS, key=header.count)
