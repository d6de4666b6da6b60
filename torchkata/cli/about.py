"""`kata about`: prints the task of a kata and its section of `docs/katas.md`."""

import re
from textwrap import indent

from torchkata.course import Kata, course
from torchkata.i18n import _, find_texts
from torchkata.i18n.katas import describe_effort, idea_of, title_of

from .terminal import paint, print_wrapped, say

PAGE = "docs/katas.md"
PICTURE = re.compile(r"!\[(.*?)\]\((.*?)\)")  # a terminal shows what the picture shows, and its file
LINK = re.compile(r"\[([^\]]*)\]\((?:https:|\w+\.md).*?\)")  # shown as its text
CHINESE_LINE_BREAK = re.compile(
    r"(?<=[\u2e80-\u9fff\uff00-\uffef])\n(?=[\u2e80-\u9fff\uff00-\uffef])"
)  # lines are joined without a space


def show(kata: Kata) -> None:
    """Print the translated task, if any, and the section about the kata. If there is no section, refer to the stub."""
    print(paint(_("{kata} · {title}", kata=kata.name, title=title_of(kata)), "bold"))
    if effort := describe_effort(kata):
        print_wrapped(effort)
    for name, task in find_texts(kata.name, "stub").items():  # none in English: they are in the stub
        print(f"\n{paint(name, 'bold')}\n{indent(task.strip(), '  ')}")
    if text := idea_of(kata, find_section(kata)):
        print()
        print_wrapped(join_lines(LINK.sub(r"\1", PICTURE.sub(r"[\1: docs/\2]", text))))
    else:
        say("  the task is described in assignment/{kata}.py", kata=kata.name)


def join_lines(page: str) -> str:
    """Join the lines of each Markdown paragraph. Code, lists and tables are left unchanged."""
    parts = page.split("```")
    outside = (CHINESE_LINE_BREAK.sub("", part) for part in parts[::2])
    parts[::2] = [re.sub(r"(?<=\S)\n(?!\s|\||[-*] |\d+\. |$)", " ", part) for part in outside]
    return "```".join(parts)


def find_section(kata: Kata) -> str:
    """Return the text below the heading of the kata in `docs/katas.md`, or "" if there is no such heading."""
    try:
        page = (course().root / PAGE).read_text("utf-8")
    except OSError:
        return ""
    found = re.search(rf"^### {kata.name}:.*\n((?:(?!#).*\n?)*)", page, re.MULTILINE)
    return found[1].replace("**", "").strip() if found else ""
