"""JUnit XML: by its schema, whatever a student's words are, no two test cases of one name."""

from xml.etree import ElementTree as ET

import pytest
import xmlschema

from grader.output.exporter import Stored
from grader.output.formats import junit
from grader.tests.conftest import Hide
from grader.tests.support.made_results import HOSTILE, result
from grader.tests.support.platforms import AT, JUNIT, for_junit


def rendered(*submissions: str, message: str = "why") -> ET.Element:
    """`get_batch` of these submissions, every outcome in it."""
    stored = [Stored(result(message, submission=name), AT) for name in submissions]
    return for_junit(junit.render(stored, hostname="here"))


def test_a_junit_suite_counts_its_test_cases_by_outcome() -> None:
    (suite,) = rendered("ada")
    children = [child.tag for case in suite.iter("testcase") for child in case if child.tag != "system-out"]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["11", "6", "1", "2"]
    assert {tag: children.count(tag) for tag in children} == {"failure": 6, "error": 1, "skipped": 2}
    assert suite.get("timestamp") == "2026-09-01T12:00:00"
    assert float(suite.get("time", "")) == pytest.approx(11 * 0.25)
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {"score": "3", "max_score": "16"}
    assert suite.find("testcase/system-out").text == "2 of 2 points"  # type: ignore[union-attr]


def test_junit_has_inconclusive_tests_as_errors_and_tests_not_started_as_skipped() -> None:
    (suite,) = rendered("ada")
    kinds = [next((child.tag for child in case if child.tag != "system-out"), None) for case in suite.iter("testcase")]
    assert kinds[:7] == [None, "failure", "failure", "failure", "skipped", "error", "skipped"]


def test_hostile_words_in_junit_lose_only_what_xml_forbids() -> None:
    (suite,) = rendered("ada", message=HOSTILE)
    (text,) = {failure.text for failure in suite.iter("failure")}
    assert text == "".join(c for c in HOSTILE if c not in "\x00\x07\x1b\x9b\r\ud800\ufffe")
    assert "]]>" in text


def test_junit_test_names_are_unique_even_where_submissions_look_alike() -> None:
    root = rendered("ada", "ada\x01", "bob <&\"'> ]]>", "ада")
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(names) == len(set(names)) == 44
    assert "ada: get_batch: rows are independent (2)" in names


def test_junit_shows_nothing_of_hidden_tests(hide: Hide) -> None:
    hide("after_due_date")
    content = junit.render([Stored(result("get_batch · claim\n  secret", file="get_batch.py"), AT)], hostname="here")
    names = [case.get("name") for case in for_junit(content).iter("testcase")]
    assert names[1] == "ada: get_batch: hidden test 2"
    assert b"secret" not in content
    assert b"claim" not in content
    assert b"every_start" not in content
    assert b"This test is hidden." in content


def test_the_junit_schema_rejects_wrong_reports() -> None:
    good = junit.render([Stored(result("why"), AT)], hostname="here").decode()
    for wrong in (
        good.replace(' tests="11"', ""),
        good.replace("<system-out>", "<system-out/><skipped message=''/><system-out>", 1),
        good.replace("every valid start occurs", "rows are windows of data"),
    ):
        assert wrong != good
        with pytest.raises(xmlschema.XMLSchemaValidationError):
            JUNIT.validate(wrong)
