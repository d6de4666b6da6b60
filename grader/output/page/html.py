"""HTML from templates: whatever goes in is text, unless it was made here."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.results.text import in_words, printable
from torchkata.course import cached_by_course, course
from torchkata.i18n import class_language, class_words
from torchkata.result import LOOK_OF, LOOKS

FILES = Path(__file__).with_name("files")


@cached_by_course
def templates() -> Environment:
    """The templates: every text is escaped, and shown in the order in which it stands."""
    made = Environment(
        loader=FileSystemLoader(FILES),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "LOOKS": LOOKS,
        "STATUSES": {status: class_words(f"status.{status}") for status in reversed(LOOK_OF)},
        "SYMBOLS": {status: look.symbol for status, look in LOOK_OF.items()},
        "in_words": in_words,
        "class_language": class_language(),
        "course_title": course().title,
        "said": class_words,
        "inline": inline,
        "policy": policy,
    }
    made.filters["figure"] = figure
    return made


def shown(value: object) -> object:
    """What a template prints; text without what would reorder or hide it."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def figure(value: float) -> str:
    """Points: `7`, `7.5`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


@cache
def inline(name: str) -> Markup:
    """A stylesheet or a script of ours, to stand in the page itself."""
    return Markup((FILES / name).read_text("utf-8"))  # no data of anybody's is in it


def policy(*scripts: str) -> str:
    """The page's Content-Security-Policy: these scripts of ours run, nothing else does, and nothing is fetched."""
    digests = [base64.b64encode(hashlib.sha256(inline(name).encode()).digest()).decode() for name in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
