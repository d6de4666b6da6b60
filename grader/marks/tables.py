"""Reads the instructor's tables: CSV files with a header, separated by commas, semicolons or tabs."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from grader.base.errors import CallError
from grader.base.text import count

SEPARATORS = ",;\t"
ABOVE = re.compile(r"\ufeff?(?:(?:sep=.|[ ,;\t]*)\r?\n)*", re.IGNORECASE)  # what may be above the header


def read_table(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return each row as a dict with these columns ("" for an empty cell). Other columns are ignored.

    Raises CallError with a one-line message that names the file and the row.
    """
    rows = read_rows(path)
    header = [name.strip().casefold() for name in rows[0]] if rows else []
    for name in needed:
        if name not in header:
            raise CallError(f"{path}: there is no column {name}; required columns: {', '.join(needed)}")
    for name in (*needed, *optional):
        if header.count(name) > 1:
            raise CallError(f"{path}: two columns are called {name}")
    found: list[dict[str, str]] = []
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(header):
            raise CallError(f"{path}: row {number} has {count(len(row), 'cell')}, but the header has {len(header)}")
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        found.append({name: cells.get(name, "") for name in (*needed, *optional)})
        for name in needed:
            if not found[-1][name]:
                raise CallError(f"{path}: row {number} has no {name}")
    return found


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a table, beginning with its header. Raises CallError if the file can't be read."""
    text = read_text(path)
    at, separator = find_header(text)
    return list(csv.reader(io.StringIO(text[at:], newline=""), delimiter=separator, strict=False))


def read_text(path: Path) -> str:
    """Return the text of a file without converting line endings.

    Raises CallError if the file can't be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise CallError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise CallError(
            f"{path}: is not UTF-8; save it with the encoding UTF-8 (in a spreadsheet: CSV UTF-8)"
        ) from None


def find_header(text: str) -> tuple[int, str]:
    """Return the position of the header, and the separator that is used most often in it.

    A byte order mark, empty lines and the line `sep=;`, with which Excel names the separator, may come first.
    """
    above = ABOVE.match(text)
    at = above.end() if above else 0
    header = text[at:].partition("\n")[0]
    return at, max(SEPARATORS, key=header.count)
