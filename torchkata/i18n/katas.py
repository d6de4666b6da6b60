"""What each kata says to a student, in the student's language."""

from torchkata.course import Kata, Track

from . import class_language, said_of, shared, translated, words


def title_of(kata: Kata) -> str:
    """What there is to build."""
    return translated(kata.title, said_of(kata.name, "title"))


def title_of_track(track: Track) -> str:
    """What its katas have in common."""
    return translated(track.title, shared("tracks", track.name))


def hints_of(kata: Kata) -> list[str]:
    """From gentle to plain."""
    return said_of(kata.name, "hints") or list(kata.hints)


def tasks_of(kata: Kata) -> dict[str, str]:
    """What the stub says of itself and of each name in it; nothing in English, which the stub itself has."""
    return said_of(kata.name, "stub") or {}


def about(kata: Kata) -> dict[str, str]:
    """What each function and class is to do, in a line."""
    return {name: task.splitlines()[0] for name, task in tasks_of(kata).items() if name.isidentifier()}


def idea_of(kata: Kata, english: str) -> str:
    """Why the kata is there, a small case, and a mistake that many make."""
    return translated(english, said_of(kata.name, "about")).strip()


def texts_of_command(kata: Kata) -> dict[str, str]:
    """What the command that it brings says, by key."""
    return kata.command | (said_of(kata.name, "command") or {})


def claim_of(kata: str, test: str, english: str) -> str:
    """The sentence that a test proves; several optimizers share some of theirs."""
    return translated(english, said_of(kata, "claims", test)).removesuffix("。")


def class_title_of(kata: Kata) -> str:
    """What there is to build, in the class's language."""
    return translated(kata.title, said_of(kata.name, "title", chosen=class_language()))


def class_title_of_test(kata: str, test: str) -> str:
    """What a test is called in the class's language: in English by its name, in another by its claim."""
    english = test.removeprefix("test_").replace("_", " ")
    return translated(english, said_of(kata, "claims", test, chosen=class_language())).removesuffix("。")


def score_of(kata: Kata, passed: int, earned: float | None) -> str:
    """How many tests passed, and the points of those where they are known."""
    tests = f"{passed:>3}/{len(kata.points)}"
    if earned is None:
        return tests
    return f"{tests:<6}  " + words("points", earned=f"{earned:>3g}", all=f"{kata.max_score:g}")
