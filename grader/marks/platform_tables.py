"""Finds people and submission times in tables exported from Canvas, Moodle and GitHub Classroom.

Moodle translates the headings of its tables. The column of e-mail addresses is therefore found by its content.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from grader.base.errors import CallError
from grader.marks.roster import Person, normalize
from grader.marks.tables import read_rows

Gradebook: TypeAlias = Literal["canvas", "moodle", "csv"]
Key: TypeAlias = tuple[int, str]  # the index of a column, and the field of a person that it contains

WORKSHEET = "worksheet.csv"
NO_KEY = "no column with e-mail addresses or other known ids"
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")

# Headings in English, German, French, Spanish and Chinese, as `normalize` returns them.
ID_NUMBER = ("id number", "id-nummer", "matrikelnummer", "numéro d'identification", "número de id", "id号", "学号")
USERNAME = ("username", "anmeldename", "nom d'utilisateur", "nombre de usuario", "用户名")
FULL_NAME = ("full name", "vollständiger name", "nom complet", "nombre completo", "全名", "姓名")
GRADE = ("grade", "bewertung", "note", "calificación", "成绩", "分数")
MAXIMUM = ("maximum grade", "bestwertung", "note maximale", "calificación máxima", "最高分", "最高成绩", "最大分数")
HEADINGS: Mapping[Gradebook, Sequence[tuple[str, str]]] = {  # (heading, field of a person), the most reliable first
    "canvas": (("id", "lms_id"), ("sis user id", "id"), ("sis login id", "id"), ("sis login id", "email")),
    "moodle": (*((heading, "id") for heading in (*ID_NUMBER, *USERNAME)), *((name, "name") for name in FULL_NAME)),
    "csv": (("id", "id"), ("email", "email")),
}
MONTHS = (
    *("january januar janvier enero", "february februar février febrero", "march märz mars marzo"),
    *("april avril abril", "may mai mayo", "june juni juin junio", "july juli juillet julio"),
    *("august août agosto", "september septembre septiembre", "october oktober octobre octubre"),
    *("november novembre noviembre", "december dezember décembre diciembre"),
)
DATE = re.compile(r"(?P<day>\d{1,2})\.?(?: de)? (?P<month>[^\W\d]+)(?: de)? (?P<year>\d{4})")  # 6. Oktober 2026
AMERICAN = re.compile(r"(?P<month>[^\W\d]+) (?P<day>\d{1,2}), (?P<year>\d{4})")  # October 6, 2026
CHINESE = re.compile(r"(?P<year>\d{4})年 ?(?P<month>\d{1,2})月 ?(?P<day>\d{1,2})日")
CLOCK = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})")


def list_keys(format: Gradebook, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Key]:
    """Return the columns that identify people. `header` is normalized."""
    mails = [(place, "email") for place in range(len(header)) if format == "moodle" and holds_addresses(rows, place)]
    return mails + [(header.index(heading), field) for heading, field in HEADINGS[format] if heading in header]


def holds_addresses(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether a column contains e-mail addresses and nothing else."""
    cells = [row[place].strip() for row in rows if len(row) > place and row[place].strip()]
    return bool(cells) and all(map(ADDRESS.fullmatch, cells))


def index_rows(keys: Sequence[Key], rows: Sequence[Sequence[str]]) -> dict[tuple[int, str], list[int]]:
    """Return the indices of the rows that contain each value, keyed by (column, value)."""
    found: dict[tuple[int, str], list[int]] = {}
    for place in {place for place, _ in keys}:
        for number, row in enumerate(rows):
            if len(row) > place:
                found.setdefault((place, normalize(row[place])), []).append(number)
    return found


def find_rows(person: Person, keys: Sequence[Key], index: Mapping[tuple[int, str], list[int]]) -> list[int]:
    """Return the rows of a person, by the first column in which a value matches."""
    for place, field in keys:
        wanted = normalize(getattr(person, field))
        if wanted and (place, wanted) in index:
            return index[place, wanted]
    return []


def read_worksheet_times(path: Path, people: Sequence[Person]) -> dict[str, datetime]:
    """Return the submission times in Moodle's grading worksheet without a time zone, keyed by person id.

    The first column that contains times is the time of submission; a later one is the time of grading.
    """
    rows = read_rows(path) if path.exists() else []
    header = [normalize(name) for name in rows[0]] if rows else []
    keys = list_keys("moodle", header, rows[1:])
    index = index_rows(keys, rows)
    place = next((place for place in range(len(header)) if any(parse_cell(row, place) for row in rows[1:])), None)
    times = {
        person.id: parse_cell(rows[found[0]], place)
        for person in people
        if place is not None and len(found := find_rows(person, keys, index)) == 1
    }
    return {id: time for id, time in times.items() if time is not None}


def parse_cell(row: Sequence[str], place: int) -> datetime | None:
    """Return the time in a cell, or None."""
    return parse_time(row[place]) if len(row) > place else None


def parse_time(text: str) -> datetime | None:
    """Parse a time as Moodle writes it in English, German, French, Spanish or Chinese. Return None for other texts."""
    text = normalize(text)
    clock = CLOCK.search(text)
    date = CHINESE.search(text) or DATE.search(text) or AMERICAN.search(text)
    if clock is None or date is None:
        return None
    named = [place for place, names in enumerate(MONTHS, start=1) if date["month"] in names.split()]
    month = int(date["month"]) if date["month"].isdecimal() else named[0] if named else 0
    hour = int(clock["hour"])
    if re.search(r"\bp\.? ?m\b|下午|晚上", text) and hour < 12:
        hour += 12
    if re.search(r"\ba\.? ?m\b|上午|凌晨", text) and hour == 12:
        hour = 0
    try:
        return datetime(int(date["year"]), month, int(date["day"]), hour, int(clock["minute"]))
    except ValueError:
        return None


def make_roster(path: Path) -> list[Person]:
    """Return the people in a gradebook of Canvas, a table of Moodle, or GitHub Classroom's `classroom_roster.csv`.

    Raises CallError if the table is none of them.
    """
    rows = read_rows(path)
    header = [normalize(name) for name in rows[0]] if rows else []
    cells = [dict(zip(header, map(str.strip, row), strict=False)) for row in rows[1:]]
    mails = [header[place] for place, field in list_keys("moodle", header, rows[1:]) if field == "email"]
    if {"identifier", "github_username"} <= {*header}:
        people = [from_github(row) for row in cells]
    elif {"student", "id", "section"} <= {*header}:
        people = [from_canvas(row) for row in cells if row.get("id")]
    elif mails:
        people = [from_moodle(row, mails[0]) for row in cells]
    else:
        raise CallError(f"{path}: {NO_KEY}; the columns are {', '.join(rows[0] if rows else ())}")
    return [person for person in people if person.id]


def from_github(row: Mapping[str, str]) -> Person:
    """Return the person in a row of GitHub Classroom's roster."""
    id = row["identifier"]
    return Person(id, row.get("name", ""), id if "@" in id else "", row.get("github_username", ""))


def from_canvas(row: Mapping[str, str]) -> Person:
    """Return the person in a row of Canvas's gradebook, which writes names as `Lovelace, Ada`."""
    last, _, first = row["student"].partition(", ")
    login = row.get("sis login id", "")
    name, mail = f"{first} {last}".strip(), login if "@" in login else ""
    return Person(row.get("sis user id") or login or row["id"], name, mail, row["id"], row.get("section", ""))


def from_moodle(row: Mapping[str, str], mail: str) -> Person:
    """Return the person in a row of a table of Moodle whose column `mail` contains e-mail addresses."""
    id = next((row[name] for name in (*ID_NUMBER, *USERNAME) if row.get(name)), row.get(mail, ""))
    return Person(id, next((row[name] for name in FULL_NAME if row.get(name)), ""), row.get(mail, ""))
