"""The files of a course: which keys they may have, and how they are read and checked."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from .model import CourseError, HiddenSays, Kata, Limits, Tiers, Track, Visibility, Workload

KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def kind(annotation: Any) -> type:
    """Of the keys of `KINDS` the one that a field of this annotation is in a file."""
    origin = get_origin(annotation) or annotation
    found: type = {tuple: list, Literal: str}.get(origin, origin)
    return found


COURSE_KEYS = {"title": str, "tracks": dict, "graded": list, "limits": dict, "languages": list, "preload": list}
LIMIT_KEYS = {field.name: kind(field.type) for field in fields(Limits)}
KATA_KEYS = {field.name: kind(field.type) for field in fields(Kata) if field.name not in ("name", "languages")}
KATA_KEYS["visibility"] = object  # a word, or a table of words


def course_fields(root: Path) -> dict[str, Any]:
    """What the `pyproject.toml` in this folder says of its course, by the fields of `Course`. Raises CourseError."""
    path = root / "pyproject.toml"
    project = table_of(path) if path.is_file() else {}
    if "torchkata" not in project.get("tool", {}):
        raise CourseError(f"{root}: there is no course here (no pyproject.toml with a table [tool.torchkata])")
    told, where = project["tool"]["torchkata"], f"{path}: [tool.torchkata]"
    known(told, COURSE_KEYS, where)
    if not told.get("tracks", True):
        raise CourseError(f"{where}: tracks is empty; a course has one at least")
    for name, title in told.get("tracks", {}).items():
        if type(title) is not str:
            raise CourseError(f"{where}: tracks has {name} = {title!r}; a track's title is a text")
    tracks = {name: Track(name, title) for name, title in told.get("tracks", {"all_katas": "Katas"}).items()}
    graded = tuple(told.get("graded", tracks))
    if unknown := set(graded) - tracks.keys():
        raise CourseError(
            f"{where}: graded names {min(unknown)!r}, which is no track; the tracks are {', '.join(tracks)}"
        )
    known(told.get("limits", {}), LIMIT_KEYS, f"{path}: [tool.torchkata.limits]")
    for name, limit in told.get("limits", {}).items():
        if not limit > 0:
            raise CourseError(f"{path}: [tool.torchkata.limits]: {name} is {limit!r}; it should be above 0")
    return {
        "title": told.get("title", root.name),
        "tracks": tracks,
        "graded": graded,
        "limits": Limits(**told.get("limits", {})),
        "languages": tuple(told.get("languages", ("en",))),
        "preload": tuple(told.get("preload", ())),
        "dependencies": tuple(project.get("dependency-groups", {}).get("students", ())),
    }


def table_of(path: Path) -> dict[str, Any]:
    """A TOML file. Raises CourseError."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None


def known(told: Mapping[str, Any], keys: Mapping[str, type], where: str) -> None:
    """Raises CourseError for a key that means nothing, and for a value of another kind."""
    if unknown := told.keys() - keys.keys():
        raise CourseError(f"{where} has {min(unknown)!r}, which is no key of it; the keys are {', '.join(keys)}")
    for key, value in told.items():
        if keys[key] is list and type(value) is list and not all(type(one) is str for one in value):
            raise CourseError(f"{where}: {key} is {value!r}; it should be a list of texts")
        if type(value) is not keys[key] and (keys[key], type(value)) != (float, int) and keys[key] is not object:
            raise CourseError(f"{where}: {key} is {value!r}; it should be {KINDS[keys[key]]}")


def kata_from(told: dict[str, Any], path: Path, tracks: Collection[str], languages: Collection[str]) -> Kata:
    """What the `kata.toml` at this path says. Raises CourseError."""
    known(told, KATA_KEYS, str(path))
    translations = {language: path.with_name(f"{language}.toml") for language in languages if language != "en"}
    for key in ("title", "points"):
        if key not in told:
            raise CourseError(f"{path}: {key} is missing")
    for test, points in told["points"].items():
        if type(points) not in (int, float) or not 0 <= points < inf:
            raise CourseError(f"{path}: [points] {test} is {points!r}; it should be a number, 0 or more")
    return Kata(
        name=path.parent.name,
        title=told["title"],
        track=one_of(tracks, told.get("track", next(iter(tracks))), f"{path}: track"),
        place=told.get("place", 0),
        builds_on=tuple(told.get("builds_on", ())),
        hints=tuple(told.get("hints", ())),
        lint=tuple(told.get("lint", ())),
        points=told["points"],
        visibility=visibility_of(told, f"{path}: visibility"),
        hidden_says=one_of(get_args(HiddenSays), told.get("hidden_says", "nothing"), f"{path}: hidden_says"),
        command=command_of(told, f"{path}: [command]"),
        preload=tuple(told.get("preload", ())),
        numeric=told.get("numeric", True),
        languages={language: table_of(file) for language, file in translations.items() if file.is_file()},
    )


def command_of(told: Mapping[str, Any], where: str) -> dict[str, str]:
    """The command that a kata brings, if it does. Raises CourseError for one without a name or help, or no texts."""
    texts: dict[str, str] = told.get("command", {})
    for key in ("name", "help") if texts else ():
        if key not in texts:
            raise CourseError(f"{where}: {key} is missing")
    known(texts, dict.fromkeys(texts, str), where)
    return texts


def workload_from(entry: dict[str, Any]) -> Workload:
    """One table of `workloads.toml`."""
    return Workload(
        name=entry["name"],
        title=entry["title"],
        uses=tuple(entry["uses"]),
        points=Tiers(**entry["points"]),
        ratio={kind: Tiers(**thresholds) for kind, thresholds in entry["ratio"].items()},
        mfu=Tiers(**entry["mfu"]) if "mfu" in entry else None,
    )


def visibility_of(told: dict[str, Any], where: str) -> dict[str, Visibility]:
    """Who sees each test of a kata: one word for all of them, or a table of those that are not visible."""
    given = told.get("visibility", "visible")
    chosen = given if isinstance(given, dict) else dict.fromkeys(told["points"], given)
    if unknown := chosen.keys() - told["points"].keys():
        raise CourseError(f"{where} names {min(unknown)}, which is no test of it")
    return {test: one_of(get_args(Visibility), chosen.get(test, "visible"), where) for test in told["points"]}


def one_of(allowed: Collection[str], given: object, where: str) -> Any:
    """What was given, if it is allowed. Raises CourseError."""
    if given not in allowed:
        raise CourseError(f"{where} is {given!r}; it can be {', '.join(allowed)}")
    return given
