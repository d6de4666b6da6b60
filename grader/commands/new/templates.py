"""Creates the files of a course or a kata from templates. Existing files are never overwritten.

files/course/      a course without katas
files/kata/<kind>/  a small working kata of each kind; NAME and CLASS stand for the names of the kata and of its class
"""

import keyword
from collections.abc import Mapping
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.commands.package.platform_package import spread
from grader.commands.package.project import files_of
from torchkata.course import TRACK_POINTS, Kata, course, use

FILES = Path(__file__).with_name("files")
KINDS = {path.name.rstrip("_"): path.name for path in sorted((FILES / "kata").iterdir())}  # no module is named `class`
FIRST = "first_kata"  # name of the kata in a new course
ALL_POINTS = {"MOST": "80", "REST": "20", "WORTH": f"the points of a track add up to {TRACK_POINTS}"}
NO_POINTS = {
    "MOST": "0",
    "REST": "0",
    "WORTH": f"the other katas of the track already have all {TRACK_POINTS} points: move some of them here",
}


def new_course(folder: Path, title: str) -> int:
    """Create a course with one kata and return the exit code.

    Raises CallError, before anything is written, if an argument is invalid.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CallError(f"{folder}: is not empty; choose a new directory")
    if '"' in title or "\\" in title or not title.isprintable():
        raise CallError(f"--title {title!r}: must not contain quotes, backslashes or line breaks")
    write(folder, fill_templates("course", {"TITLE": title}))
    use(folder)
    write(folder, make_kata(FIRST, course().graded[0], "function"))
    print(f"{folder}: created with one kata. In it, `pytest` tests the stub and `grader certify` checks the tests.")
    return 0


def new_kata(name: str, track: str | None, kind: str) -> int:
    """Create the files of a kata and return the exit code.

    Raises CallError, before anything is written, if an argument is invalid.
    """
    here = course()
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or name.startswith("_"):
        raise CallError(f"{name}: not a valid name; use a Python module name in lowercase, such as moving_average")
    if name in (*here.tracks, "all"):
        raise CallError(f"{name}: is the name of a track; choose another name")
    if track is not None and track not in here.tracks:
        raise CallError(f"--track {track}: unknown track; the tracks are {', '.join(here.tracks)}")
    if kind not in KINDS:
        raise CallError(f"--kind {kind}: unknown kind; the kinds are {', '.join(KINDS)}")
    track = track or here.graded[0]
    others = list_katas(track)
    files = make_kata(name, track, kind)
    for path in (here.root / file for file in files):
        if path.exists():
            raise CallError(f"{path}: already exists")
    write(here.root, files)
    lines = [*files, f"Edit these files; `grader certify --kata {name}` lists what is missing."]
    if others:
        lines.append(
            f"The tests have 0 points because other katas of the track have all {TRACK_POINTS} points: move some here."
        )
    print("\n".join(lines))
    return 0


def make_kata(name: str, track: str, kind: str) -> dict[str, str]:
    """Return the files of a new kata, which comes last in its track. The first kata of a track gets all points."""
    katas = list_katas(track)
    values = {"NAME": name, "CLASS": name.title().replace("_", ""), "TRACK": track}
    values["PLACE"] = str(max((kata.place for kata in katas), default=0) + 1)
    return fill_templates(f"kata/{KINDS[kind]}", values | (NO_POINTS if katas else ALL_POINTS))


def list_katas(track: str) -> list[Kata]:
    """Return the katas in a track, which may be empty. Raises CourseError if the course is invalid."""
    return [kata for kata in course().read_katas().values() if kata.track == track]


def fill_templates(kind: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a template, keyed by path, with these values substituted into their paths and contents."""
    folder, files = FILES / kind, {}
    for path in sorted(files_of(folder)):
        name, text = path.relative_to(folder).as_posix(), path.read_text("utf-8")
        for placeholder, value in values.items():
            name, text = name.replace(placeholder, value), text.replace(placeholder, value)
        files[".gitignore" if name == "gitignore" else name] = text
    return files


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files into a folder. Raises CallError if they can't be written."""
    with convert_write_errors(folder):
        spread({name: text.encode() for name, text in files.items()}, folder)
