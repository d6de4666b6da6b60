"""Decides what of a submission is graded: the files of one folder, or nothing, and then why.

- If several folders have katas, one of them must contain all files of the others, with the same content.
- What looks like the submissions of a class is refused: what a path is, the instructor says with `--layout`.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import PurePosixPath

from grader.base.text import list_names, quote
from grader.options import Layout
from grader.pipeline.archives import find_foreign_ending, is_archive
from grader.pipeline.layouts import TITLES, guess_layout
from grader.pipeline.left_aside import group_by_module
from grader.pipeline.submission import LONGEST, SHOWN, LeftAside, Submission, show_names
from grader.pipeline.trees import Listing, SubmissionError, Tree
from grader.pipeline.walk import A_NOTEBOOK, Walk
from torchkata.course import course
from torchkata.course.near_misses import find_near_misses


def search(tree: Tree, name: str) -> Submission:
    """Return the submission that is found in a tree. Raises SubmissionError if there is none."""
    listing = tree.list_names()
    refuse_class(listing)
    walk = Walk(tree)
    if len(walk.clones) > 1:
        raise build_class_refusal("github")
    demand_one_person(walk, {name for name in listing.files if is_archive(name) or find_foreign_ending(name)})
    place = choose(walk)
    found = {kata: show_names(names) for kata, names in find_near_misses([*course().katas], walk.names).items()}
    if place is None:
        raise SubmissionError(explain_nothing(walk.aside, found))
    files = walk.candidates[place]
    return Submission(name, files, tuple(walk.aside), found, group_by_module(walk.beside[place], files))


def refuse_class(listing: Listing) -> None:
    """Raise SubmissionError if the names in the top folder are those of a class that was downloaded."""
    names = [*listing.files, *listing.folders]
    layout = guess_layout(names)
    has_kata = any(f"{kata}.py" in names for kata in course().katas)
    is_chance = names == listing.files[:1] or (layout == "canvas" and has_kata)
    if layout and not is_chance:  # a single file, or one beside katas, may be named like one of a class
        raise build_class_refusal(layout)


def demand_one_person(walk: Walk, archives: Set[str]) -> None:
    """Raise SubmissionError if the entries of the top folder look like the submissions of a class."""
    tops = {place.parts[0] for place in walk.candidates if place.parts}
    people = sorted({*tops, *archives})
    if len(tops) > 1 and len(people) > 2 and PurePosixPath() not in walk.candidates:
        names = list_names([quote(name, LONGEST) for name in people])
        raise SubmissionError(f"katas of several people, or several versions: {names}; hand in one", layout="folders")


def choose(walk: Walk) -> PurePosixPath | None:
    """Return the folder with the katas, or None. Raises SubmissionError if folders have different ones."""
    folders = {place: files for place, files in walk.candidates.items() if not walk.katas.isdisjoint(files)}
    if not folders:
        return None
    chosen = max(folders, key=lambda place: (len(folders[place]), place.name == "assignment"))
    for place, files in folders.items():
        if not files.items() <= folders[chosen].items():
            tops = {one.parts[:1] for one in folders}
            layout = "folders" if len(tops) > 1 and () not in tops else ""
            raise SubmissionError(describe_conflict(walk.katas, folders, chosen, place), layout=layout)
        if place != chosen:
            walk.leave(place, f"the same as {show_place(chosen)}")
    return chosen


def describe_conflict(
    katas: Set[str], folders: Mapping[PurePosixPath, Mapping[str, bytes]], one: PurePosixPath, other: PurePosixPath
) -> str:
    """Return why a submission whose katas are in several folders can't be graded."""
    both = sorted(name for name, content in folders[other].items() if folders[one].get(name, content) != content)
    both.sort(key=lambda name: name not in katas)
    places = sorted(place for place in folders if not both or both[0] in folders[place])
    shown = [show_place(place) for place in places]
    names = " and ".join(shown) if len(shown) == 2 else list_names(shown)
    if both:
        return f"{both[0]} is in {names}, and they differ: hand in one"
    return f"katas are in {names}: hand in one folder"


def explain_nothing(aside: Sequence[LeftAside], near: Mapping[str, str]) -> str:
    """Return why there is nothing to grade, with what was found instead."""
    if near:
        found = "; ".join(f"there is {names}: is it {kata}.py?" for kata, names in [*near.items()][:SHOWN])
        return f"contains no kata; {found}"
    known = [one for one in aside if one.matters] or [one for one in aside if "course" in one.why]
    known = known or [one for one in aside if one.why == A_NOTEBOOK]
    if known:
        return f"contains no kata; {'; '.join(map(str, known[:SHOWN]))}"
    if aside and all(PurePosixPath(one.path).name == ".git" for one in aside):
        return "contains no kata; it is a git repository whose files are not checked out"
    if aside:
        return f"contains no kata; it has {', '.join(one.path for one in aside[:SHOWN])}"
    return f"contains no kata (such as assignment/{next(iter(course().katas))}.py)"


def build_class_refusal(layout: Layout) -> SubmissionError:
    """Return the refusal of a class that the instructor has not called one."""
    return SubmissionError(f"looks like a class from {TITLES[layout]}, not like a single submission", layout=layout)


def show_place(place: PurePosixPath) -> str:
    """Return a folder for use in a message."""
    return show_names([str(place)]) if place.parts else "the top folder"
