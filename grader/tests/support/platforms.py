"""Checks files for other platforms against their schemas."""

import json
import re
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import xmlschema

from grader.output.exporter import Stored
from grader.output.formats import classroom50, junit
from grader.results.result import Result
from grader.tests import ROOT

FORMATS = ROOT / "grader/output/formats"
CLASSROOM50 = json.loads((FORMATS / "classroom50.schema.json").read_text())
GRADESCOPE = json.loads((FORMATS / "gradescope.schema.json").read_text())
JUNIT = xmlschema.XMLSchema(str(FORMATS / "junit.xsd"))
AT = datetime(2026, 9, 1, 12, tzinfo=UTC)
RUNNER = {  # the environment in Classroom 50's runner
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


def render_classroom50(result: Result) -> dict[str, Any]:
    loaded = parse_json(classroom50.render(result, classroom50.collect_fields({}, RUNNER), AT), CLASSROOM50)
    assert loaded["score"] <= loaded["max-score"]
    return loaded


def parse_gradescope(content: bytes) -> dict[str, Any]:
    return parse_json(content, GRADESCOPE)


def parse_json(content: bytes, schema: Any) -> dict[str, Any]:
    """Parse JSON and validate it against a schema."""
    loaded: dict[str, Any] = json.loads(content)
    jsonschema.Draft202012Validator(schema).validate(loaded)
    return loaded


def parse_junit(content: bytes) -> ET.Element:
    JUNIT.validate(content.decode())
    return ET.fromstring(content)


def render_junit(*results: Result) -> bytes:
    """Render results as JUnit XML."""
    return b"".join(junit.wrap(map(junit.Renderer("here"), [Stored(result, AT) for result in results])))


def remove_code_blocks(markdown: str) -> str:
    """Return the parts of a Markdown text that are interpreted as markup."""
    return re.sub(r"^(`{3,})text\n.*?\n\1$", "(code)", markdown, flags=re.MULTILINE | re.DOTALL)
