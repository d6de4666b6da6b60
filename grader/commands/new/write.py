"""Writes the files of a course or of a kata from templates, and never over a file that is there.

files/course/    a course without katas
files/kata/      a kata that works, with a function small enough to be replaced; NAME stands for the kata's
"""

import keyword
from collections.abc import Mapping
from pathlib import Path

from grader.base.errors import CallError
from grader.commands.package.project import files_of
from torchkata.course import TRACK_POINTS, Kata, course, use

FILES = Path(__file__).with_name("files")
FIRST = "first_kata"  # of a new course
ALL_POINTS = {"MOST": "80", "REST": "20", "WORTH": f"those of a track add up to {TRACK_POINTS}"}
NO_POINTS = {
    "MOST": "0",
    "REST": "0",
    "WORTH": f"the other katas of the track have all of its {TRACK_POINTS}: take from them what you give to this one",
}


def new_course(folder: Path, title: str) -> int:
    """Write a course with one kata; the exit code. Raises CallError before anything is written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CallError(f"{folder}: there is something already; a course begins in a folder of its own")
    if '"' in title or "\\" in title or not title.isprintable():
        raise CallError(f"--title {title!r}: quotes, backslashes and line breaks can't be in it")
    write(folder, filled("course", {"TITLE": title}))
    use(folder)
    write(folder, kata_files(FIRST, course().graded[0]))
    print(f"{folder}: a course with one kata. In there, `pytest` tests the stub and `grader certify` proves the tests.")
    return 0


def new_kata(name: str, track: str | None) -> int:
    """Write the six files of a kata into the course; the exit code. Raises CallError before anything is written."""
    here = course()
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or name.startswith("_"):
        raise CallError(f"{name}: the name of a kata is that of its module, such as moving_average")
    if track is not None and track not in here.tracks:
        raise CallError(f"--track {track}: the tracks are {', '.join(here.tracks)}")
    track = track or here.graded[0]
    others = katas_of(track)
    files = kata_files(name, track)
    for path in (here.root / file for file in files):
        if path.exists():
            raise CallError(f"{path}: there is such a file already")
    write(here.root, files)
    lines = [*files, f"Replace what they compute; `grader certify --kata {name}` says what is missing."]
    if others:
        lines.append(
            f"Its tests have 0 points, since the track has its {TRACK_POINTS} already: take some from other katas."
        )
    print("\n".join(lines))
    return 0


def kata_files(name: str, track: str) -> dict[str, str]:
    """Return the files of a new kata, which comes last in its track and has all points of an empty one."""
    katas = katas_of(track)
    values = {"NAME": name, "TRACK": track, "PLACE": str(max((kata.place for kata in katas), default=0) + 1)}
    return filled("kata", values | (NO_POINTS if katas else ALL_POINTS))


def katas_of(track: str) -> list[Kata]:
    """Return the katas of a track. It may be empty here, where its first kata is written. Raises CourseError."""
    return [kata for kata in course().read_katas().values() if kata.track == track]


def filled(kind: str, values: Mapping[str, str]) -> dict[str, str]:
    """The templates of a kind, by path, with these values in their paths and texts."""
    folder, made = FILES / kind, {}
    for path in sorted(files_of(folder)):
        name, text = path.relative_to(folder).as_posix(), path.read_text("utf-8")
        for placeholder, value in values.items():
            name, text = name.replace(placeholder, value), text.replace(placeholder, value)
        made[".gitignore" if name == "gitignore" else name] = text
    return made


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write them below a folder. Raises CallError where that fails."""
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    except OSError as error:
        raise CallError(f"{folder}: can't write there ({error.strerror})") from None
