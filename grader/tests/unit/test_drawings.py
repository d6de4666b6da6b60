"""Tests that the pictures of docs/katas.md are those of the script, have a title, and are described on both pages."""

import re
from xml.etree import ElementTree as ET

import pytest

from scripts.drawings import DRAWINGS, FOLDER
from torchkata.cli.about import find_section
from torchkata.course import course
from torchkata.i18n import find_text

PICTURE = re.compile(r"!\[([^\]]*)\]\(images/katas/(\w+)\.svg\)")


def list_texts(svg: str) -> list[str]:
    """Return the texts of a drawing."""
    return [each.text or "" for each in ET.fromstring(svg).iter() if each.tag.endswith("text")]


@pytest.mark.parametrize("name", DRAWINGS)
def test_stored_drawing_shows_what_is_computed(name: str) -> None:
    stored = (FOLDER / f"{name}.svg").read_text("utf-8")
    drawn = DRAWINGS[name][0]()
    assert list_texts(stored) == list_texts(f"<svg>{''.join(drawn)}</svg>")
    assert f"<title>{DRAWINGS[name][2]}</title>" in stored
    assert "prefers-color-scheme: dark" in stored
    assert len(DRAWINGS) >= 10


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_drawing_is_shown_with_alternative_text(language: str) -> None:
    sections = [
        find_section(kata) if language == "en" else find_text(kata.name, "about", "zh")
        for kata in course().katas.values()
    ]
    shown = {name: text for section in sections for text, name in PICTURE.findall(section)}
    assert shown.keys() == DRAWINGS.keys() == {path.stem for path in FOLDER.iterdir()}
    assert min(len(text) for text in shown.values()) > 8
