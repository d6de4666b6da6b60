"""Tests of JUnit XML: valid by its schema for any message, with unique test names."""

from xml.etree import ElementTree as ET

import pytest
import xmlschema

from grader.output.exporter import Stored
from grader.output.formats import junit
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import AT, JUNIT, for_junit


def render(*submissions: str, message: str = "why") -> ET.Element:
    """Render `get_batch` of these submissions, which has every outcome."""
    stored = [Stored(result(message, submission=name), AT) for name in submissions]
    return for_junit(junit.render(stored, hostname="here"))


def test_junit_suite_counts_cases_by_outcome() -> None:
    (suite,) = render("ada", message=HOSTILE)
    kinds = [next((child.tag for child in case if child.tag != "system-out"), None) for case in suite.iter("testcase")]
    assert kinds[:7] == [None, "failure", "failure", "failure", "skipped", "error", "skipped"]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["11", "6", "1", "2"]
    assert [kinds.count(kind) for kind in ("failure", "error", "skipped")] == [6, 1, 2]
    assert suite.get("timestamp") == "2026-09-01T12:00:00"
    assert float(suite.get("time", "")) == pytest.approx(11 * 0.25)
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {"score": "3", "max_score": "16"}
    assert suite.find("testcase/system-out").text == "2 of 2 points"  # type: ignore[union-attr]
    (text,) = {failure.text for failure in suite.iter("failure")}
    assert text == "".join(c for c in HOSTILE if c not in "\x00\x07\x1b\x9b\r\ud800\ufffe"), "XML forbids these alone"


def test_junit_names_differ_for_similar_submissions() -> None:
    root = render("ada", "ada\x01", "bob <&\"'> ]]>", "ада")
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(names) == len(set(names)) == 44
    assert "ada: get_batch: rows are independent (2)" in names


def test_junit_redacts_hidden_tests(hide: Hide) -> None:
    hide("after_due_date")
    content = junit.render([Stored(result("get_batch · claim\n  secret", file="get_batch.py"), AT)], hostname="here")
    names = [case.get("name") for case in for_junit(content).iter("testcase")]
    assert names[1] == "ada: get_batch: hidden test 2"
    assert [word for word in (b"secret", b"claim", b"every_start") if word in content] == []
    assert b"This test is hidden." in content


def test_junit_schema_rejects_invalid_reports() -> None:
    good = junit.render([Stored(result("why"), AT)], hostname="here").decode()
    for wrong in (
        good.replace(' tests="11"', ""),
        good.replace("<system-out>", "<system-out/><skipped message=''/><system-out>", 1),
        good.replace("every valid start occurs", "rows are windows of data"),
    ):
        assert wrong != good
        with pytest.raises(xmlschema.XMLSchemaValidationError):
            JUNIT.validate(wrong)
