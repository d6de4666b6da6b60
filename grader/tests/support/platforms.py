"""What the platforms take: their schemas, a file once its schema has accepted it, what Classroom 50's runner says."""

import json
import re
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import xmlschema

from grader.output.formats import classroom50
from grader.results.result import Result
from grader.tests import ROOT

CLASSROOM50 = json.loads((ROOT / "grader/output/formats/classroom50.schema.json").read_text())
GRADESCOPE = json.loads((ROOT / "grader/output/formats/gradescope.schema.json").read_text())
JUNIT = xmlschema.XMLSchema(str(ROOT / "grader/output/formats/junit.xsd"))
AT = datetime(2026, 9, 1, 12, tzinfo=UTC)
RUNNER = {
    "CLASSROOM": "cs336",
    "ASSIGNMENT": "primitives",
    "ASSIGNMENT_TYPE": "group",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-09-01T10-00-00Z-abc1234",
    "COMMIT_URL": "https://github.com/cs336/primitives-ada/commit/abc",
    "RELEASE_URL": "https://github.com/cs336/primitives-ada/releases/tag/submit%2Fx",
    "REVIEW_URL": "https://github.com/cs336/primitives-ada/compare/a...b",
    "SUBMITTED_AT": "2026-09-01T12:00:00+02:00",
}


def render_classroom50(made: Result) -> dict[str, Any]:
    """Classroom 50's file of a result."""
    loaded: dict[str, Any] = json.loads(classroom50.render(made, classroom50.collect_fields({}, RUNNER), AT))
    jsonschema.Draft202012Validator(CLASSROOM50).validate(loaded)
    assert loaded["score"] <= loaded["max-score"]
    return loaded


def parse_gradescope(content: bytes) -> dict[str, Any]:
    """Gradescope's file."""
    loaded: dict[str, Any] = json.loads(content)
    jsonschema.Draft202012Validator(GRADESCOPE).validate(loaded)
    return loaded


def parse_junit(content: bytes) -> ET.Element:
    """A JUnit reader's file."""
    JUNIT.validate(content.decode())
    return ET.fromstring(content)


def remove_code_blocks(markdown: str) -> str:
    """What a reader of Markdown takes for markup: everything but the blocks of code."""
    return re.sub(r"^(`{3,})text\n.*?\n\1$", "(code)", markdown, flags=re.MULTILINE | re.DOTALL)
