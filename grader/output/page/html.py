"""HTML templates. All values are escaped, except for the stylesheets and scripts in this folder."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.base.text import printable
from grader.results.items import FEWEST
from grader.results.visibility import make_title, outcome_text
from torchkata.course import cached_by_course, course
from torchkata.i18n import class_language, translate, translate_for_class
from torchkata.result import LOOK_OF, LOOKS

FILES = Path(__file__).with_name("files")


@cached_by_course
def load_templates() -> Environment:
    """Return the template environment. It escapes all text and replaces characters that change the text direction."""
    environment = Environment(
        loader=FileSystemLoader(FILES),
        autoescape=True,
        finalize=make_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "LOOKS": LOOKS,
        "STATUSES": {status: translate(LOOK_OF[status].word, class_language()) for status in reversed(LOOK_OF)},
        "SYMBOLS": {status: look.symbol for status, look in LOOK_OF.items()},
        "FEWEST": FEWEST,
        "make_title": make_title,
        "outcome_text": outcome_text,
        "class_language": class_language(),
        "course_title": course().title,
        "_": translate_for_class,
        "include_file": include_file,
        "security_policy": security_policy,
    }
    environment.filters["points"] = format_points
    return environment


def make_printable(value: object) -> object:
    """Return a value for use in a template, without characters that would reorder or hide text."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def format_points(value: float) -> str:
    """Format points as text, such as `7` or `7.5`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


@cache
def include_file(name: str) -> Markup:
    """Return a stylesheet or script for inclusion in the page."""
    return Markup((FILES / name).read_text("utf-8"))  # not escaped, because it contains no user data


def security_policy(*scripts: str) -> str:
    """Return a Content-Security-Policy that allows only these scripts and does not allow the page to load anything."""
    digests = [base64.b64encode(hashlib.sha256(include_file(name).encode()).digest()).decode() for name in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
