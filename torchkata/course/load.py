"""Reads and validates the files of a course: `pyproject.toml`, `kata.toml`, `workloads.toml`."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from .model import CourseError, Difficulty, HiddenSays, Kata, Level, Limits, Tiers, Track, Visibility, Workload
from .points import divide_points

TYPE_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def toml_type(annotation: Any) -> type:
    """Return the TOML type (one of `TYPE_NAMES`) of a field with this annotation."""
    origin = get_origin(annotation) or annotation
    found: type = {tuple: list, Literal: str}.get(origin, origin)
    return found


COURSE_KEYS = {"title": str, "tracks": dict, "graded": list, "limits": dict, "languages": list, "preload": list}
COURSE_KEYS |= {"grader_python": str, "endings": dict, "ways": dict}
WHOLE = "all"  # key of the ending of the course in `endings`
LIMIT_KEYS = {field.name: toml_type(field.type) for field in fields(Limits)}
KATA_KEYS = {field.name: toml_type(field.type) for field in fields(Kata) if field.name not in ("name", "points")}
KATA_KEYS |= {"weight": int, "visibility": object}  # the visibility is a word, or a table whose values are words
TEST = re.compile(r"^(?:def )?(test_\w+)", re.MULTILINE)  # a function, or a name that is assigned one
WEIGHT = 10  # a kata's points if `kata.toml` does not state its weight


def read_course_fields(root: Path) -> dict[str, Any]:
    """Read the fields of `Course` from the `pyproject.toml` in this folder. Raises CourseError if it is not valid."""
    path = root / "pyproject.toml"
    project = read_toml(path) if path.is_file() else {}
    if "torchkata" not in project.get("tool", {}):
        raise CourseError(f"{root}: there is no course here (no pyproject.toml with a table [tool.torchkata])")
    table, where = project["tool"]["torchkata"], f"{path}: [tool.torchkata]"
    check_keys(table, COURSE_KEYS, where)
    titles, limits = table.get("tracks", {"all_katas": "Katas"}), table.get("limits", {})
    if not titles:
        raise CourseError(f"{where}: tracks is empty; a course needs at least one")
    for name, title in titles.items():
        if type(title) is not str:
            raise CourseError(f"{where}: tracks has {name} = {title!r}; the title of a track must be a string")
    graded = tuple(table.get("graded", titles))
    if unknown := set(graded) - titles.keys():
        raise CourseError(
            f"{where}: graded names {min(unknown)!r}, which is not a track; the tracks are {', '.join(titles)}"
        )
    endings, ways = table.get("endings", {}), table.get("ways", {})
    check_keys(endings, {**dict.fromkeys(titles, str), WHOLE: str}, f"{path}: [tool.torchkata.endings]")
    check_keys(ways, dict.fromkeys(ways, list), f"{path}: [tool.torchkata.ways]")
    check_keys(limits, LIMIT_KEYS, f"{path}: [tool.torchkata.limits]")
    for name, limit in limits.items():
        if not limit > 0:
            raise CourseError(f"{path}: [tool.torchkata.limits]: {name} is {limit!r}; it should be above 0")
    if not re.fullmatch(r"3\.\d+|", python := table.get("grader_python", "")):
        raise CourseError(f'{where}: grader_python is {python!r}; it should be a version, such as "3.12"')
    return {
        "title": table.get("title", root.name),
        "tracks": {name: Track(name, title, endings.get(name, "")) for name, title in titles.items()},
        "ending": endings.get(WHOLE, ""),
        "ways": {title: tuple(names) for title, names in ways.items()},
        "graded": graded,
        "limits": Limits(**limits),
        "languages": tuple(table.get("languages", ("en",))),
        "grader_python": python,
        "preload": tuple(table.get("preload", ())),
        "dependencies": tuple(project.get("dependency-groups", {}).get("students", ())),
    }


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises CourseError if it can't be read or parsed."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None


def check_keys(table: Mapping[str, Any], keys: Mapping[str, type], where: str) -> None:
    """Raise CourseError if a key is unknown or a value has the wrong type."""
    if unknown := table.keys() - keys.keys():
        raise CourseError(f"{where} has the unknown key {min(unknown)!r}; the keys are {', '.join(keys)}")
    for key, value in table.items():
        if keys[key] is list and type(value) is list and not all(type(item) is str for item in value):
            raise CourseError(f"{where}: {key} is {value!r}; it should be a list of strings")
        if type(value) is not keys[key] and (keys[key], type(value)) != (float, int) and keys[key] is not object:
            raise CourseError(f"{where}: {key} is {value!r}; it should be {TYPE_NAMES[keys[key]]}")


def parse_kata(table: dict[str, Any], path: Path, tracks: Collection[str], folder: Path) -> Kata:
    """Return the kata described by a `kata.toml`, with its tests in `folder`. Raises CourseError if it is not valid."""
    check_keys(table, KATA_KEYS, str(path))
    for key in ("title", "tests"):
        if key not in table:
            raise CourseError(f"{path}: {key} is missing")
    if (weight := table.get("weight", WEIGHT)) <= 0:
        raise CourseError(f"{path}: weight is {weight!r}; it should be above 0")
    points = divide_points(weight, tests := parse_tests(table["tests"], f"{path}: [tests]"))
    points = sort_tests(points, folder / f"test_{path.parent.name}.py")
    if not 0 <= (hours := table.get("hours", 0)) < inf:
        raise CourseError(f"{path}: hours is {hours!r}; it should be 0 or a positive number")
    return Kata(
        name=path.parent.name,
        title=table["title"],
        track=check_choice(tracks, table.get("track", next(iter(tracks))), f"{path}: track"),
        place=table.get("place", 0),
        builds_on=tuple(table.get("builds_on", ())),
        hints=tuple(table.get("hints", ())),
        hours=hours,
        difficulty=check_choice(get_args(Difficulty), table.get("difficulty", "unknown"), f"{path}: difficulty"),
        after=table.get("after", ""),
        lint=tuple(table.get("lint", ())),
        tests=tests,
        points=points,
        visibility=parse_visibility(table, points, f"{path}: visibility"),
        hidden_says=check_choice(get_args(HiddenSays), table.get("hidden_says", "nothing"), f"{path}: hidden_says"),
        command=parse_command(table, f"{path}: [command]"),
        preload=tuple(table.get("preload", ())),
        numeric=table.get("numeric", False),
    )


def parse_tests(table: Mapping[str, Any], where: str) -> dict[Level, tuple[str, ...]]:
    """Return the names of a kata's tests by level. Raises CourseError if there are none, or one is listed twice."""
    levels: tuple[Level, ...] = get_args(Level)
    check_keys(table, dict.fromkeys(levels, list), where)
    names = [*chain(*table.values())]
    if not names:
        raise CourseError(f"{where} is empty; list every test of the kata in {', '.join(levels)}")
    for name in names:
        if names.count(name) > 1:
            raise CourseError(f"{where} names {name} twice")
    return {level: tuple(table.get(level, ())) for level in levels}


def sort_tests(points: Mapping[str, float], file: Path) -> dict[str, float]:
    """Sort tests as in `file`. Of those that fail for the same reason, the report shows the first."""
    text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
    place = {name: number for number, name in enumerate(TEST.findall(text))}
    return dict(sorted(points.items(), key=lambda item: place.get(item[0].partition("[")[0], len(place))))


def parse_command(table: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the texts of the command that a kata adds, if any. Raises CourseError if its name or help is missing."""
    texts: dict[str, str] = table.get("command", {})
    for key in ("name", "help") if texts else ():
        if key not in texts:
            raise CourseError(f"{where}: {key} is missing")
    check_keys(texts, dict.fromkeys(texts, str), where)
    return texts


def parse_workload(entry: dict[str, Any]) -> Workload:
    """Return the workload described by an entry in `workloads.toml`."""
    return Workload(
        name=entry["name"],
        title=entry["title"],
        uses=tuple(entry["uses"]),
        points=Tiers(**entry["points"]),
        ratio={kind: Tiers(**thresholds) for kind, thresholds in entry["ratio"].items()},
        mfu=Tiers(**entry["mfu"]) if "mfu" in entry else None,
    )


def parse_visibility(table: dict[str, Any], tests: Collection[str], where: str) -> dict[str, Visibility]:
    """Return the visibility of each test of a kata. The value is a word for all tests, or a table of exceptions."""
    value = table.get("visibility", "visible")
    chosen = value if isinstance(value, dict) else dict.fromkeys(tests, value)
    if unknown := chosen.keys() - {*tests}:
        raise CourseError(f"{where} names {min(unknown)}, which is not a test of this kata")
    return {test: check_choice(get_args(Visibility), chosen.get(test, "visible"), where) for test in tests}


def check_choice(allowed: Collection[str], value: object, where: str) -> Any:
    """Return the value if it is one of the allowed values. Otherwise raise CourseError."""
    if value not in allowed:
        raise CourseError(f"{where} is {value!r}; it can be {', '.join(allowed)}")
    return value
