"""`kata about`: what a kata is about, and which katas it needs: its section of the page of katas."""

import re
from textwrap import indent

from torchkata.course import Kata, course
from torchkata.i18n import words
from torchkata.i18n.katas import idea_of, tasks_of, title_of

from .terminal import paint, say, tell

PAGE = "docs/katas.md"
IN_CHINESE = re.compile(
    r"(?<=[\u2e80-\u9fff\uff00-\uffef])\n(?=[\u2e80-\u9fff\uff00-\uffef])"
)  # where no space belongs


def show(kata: Kata) -> None:
    """Print the task, where the stub is in another language, and the section, or where the task is if there is none."""
    print(paint(words("hint.heading", kata=kata.name, title=title_of(kata)), "bold"))
    for name, task in tasks_of(kata).items():
        print(f"\n{paint(name, 'bold')}\n{indent(task.strip(), '  ')}")
    if text := idea_of(kata, section(kata)):
        print()
        tell(reflowed(text))
    else:
        say("about.none", kata=kata.name)


def reflowed(page: str) -> str:
    """Each paragraph of Markdown as one line; code, lists and tables as they are."""
    parts = page.split("```")
    outside = (IN_CHINESE.sub("", part) for part in parts[::2])
    parts[::2] = [re.sub(r"(?<=\S)\n(?!\s|\||[-*] |\d+\. |$)", " ", part) for part in outside]
    return "```".join(parts)


def section(kata: Kata) -> str:
    """What stands under the kata's heading; nothing where the course has no such page."""
    try:
        page = (course().root / PAGE).read_text("utf-8")
    except OSError:
        return ""
    found = re.search(rf"^### {kata.name}:.*\n((?:(?!#).*\n?)*)", page, re.MULTILINE)
    return found[1].replace("**", "").strip() if found else ""
