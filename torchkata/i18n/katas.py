"""The texts of a kata in the student's language, and some of them in the language of the class."""

from torchkata.course import Kata, Track, course
from torchkata.course.load import WHOLE
from torchkata.course.model import Difficulty
from torchkata.i18n import translate
from torchkata.inside.text import Message, Text

from . import Language, _, class_language, find_shared_text, find_text, find_texts, first_translation, pad

DIFFICULTIES: dict[Difficulty, Message] = {
    "unknown": "",
    "easy": Text("easy"),
    "medium": Text("medium"),
    "hard": Text("hard"),
}


def title_of(kata: Kata, chosen: Language | None = None) -> str:
    """Return the title of a kata. By default, the student's language is used."""
    return first_translation(kata.title, find_text(kata.name, "title", chosen))


def title_of_track(track: Track, chosen: Language | None = None) -> str:
    """Return the title of a track. By default, the student's language is used."""
    return first_translation(track.title, find_shared_text(f"tracks.{track.name}", chosen))


def title_of_way(title: str) -> str:
    """Return the title of a way through the course."""
    return first_translation(title, find_shared_text(f"ways.{title}"))


def ending_of_track(track: Track) -> str:
    """Return what works once all katas of a track are done."""
    return first_translation(track.ending, find_shared_text(f"endings.{track.name}"))


def ending_of_course() -> str:
    """Return what works once all katas are done."""
    ending = course().ending  # "" in a handout with some of the katas
    return first_translation(ending, find_shared_text(f"endings.{WHOLE}")) if ending else ""


def hints_of(kata: Kata) -> list[str]:
    """Return the hints of a kata, from subtle to explicit."""
    return [first_translation(hint, find_text(kata.name, f"hints.{n}")) for n, hint in enumerate(kata.hints, start=1)]


def effort_of(kata: Kata) -> str:
    """Return the hours and the difficulty of a kata. Omit what `kata.toml` does not state."""
    hours = _("{hours} h", hours=f"{kata.hours:g}") if kata.hours else ""
    return f"{pad(hours, 10)}{translate(DIFFICULTIES[kata.difficulty])}".strip()


def after_of(kata: Kata, chosen: Language | None = None) -> str:
    """Return what students can do after a kata, by default in the student's language."""
    return first_translation(kata.after, find_text(kata.name, "after", chosen))


def describe_effort(kata: Kata, chosen: Language | None = None) -> str:
    """Return a line with the hours and the difficulty of a kata and what students can do afterwards.

    If one of these is unknown, the line is empty. By default, the student's language is used.
    """
    after = after_of(kata, chosen)
    difficulty = DIFFICULTIES[kata.difficulty]
    if not (kata.hours and difficulty and after):
        return ""
    values = {"hours": f"{kata.hours:g}", "difficulty": difficulty, "after": after}
    return translate(Text("About {hours} h, {difficulty}. After this kata you can {after}.", **values), chosen)


def about(kata: Kata) -> dict[str, str]:
    """Return the translated first line of each task by the name of the function or class. In English, return {}."""
    return {name: task.splitlines()[0] for name, task in find_texts(kata.name, "stub").items() if name.isidentifier()}


def idea_of(kata: Kata, english: str) -> str:
    """Return the explanation of a kata: its motivation, a small example, and a common mistake."""
    return first_translation(english, find_text(kata.name, "about")).strip()


def texts_of_command(kata: Kata) -> dict[str, str]:
    """Return the texts of the command added by a kata, by key."""
    return kata.command | find_texts(kata.name, "command")


def claim_of(kata: str, test: str, english: str) -> str:
    """Return the claim of a test, a sentence that states the property which the test checks."""
    return first_translation(english, find_text(kata, f"claims.{test}")).removesuffix("。")


def class_title_of_test(kata: str, test: str) -> str:
    """Return a test's title in the language of the class: its name for English, otherwise its translated claim."""
    english = test.removeprefix("test_").replace("_", " ")
    return first_translation(english, find_text(kata, f"claims.{test}", class_language())).removesuffix("。")


def score_of(kata: Kata, passed: int, earned: float | None) -> str:
    """Return the number of passed tests and, if they are known, the points."""
    tests = f"{passed:>3}/{len(kata.points)}"
    if earned is None:
        return tests
    return f"{tests:<6}  " + _("{earned}/{all} points", earned=f"{earned:>5g}", all=f"{kata.max_score:g}")
