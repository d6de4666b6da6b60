"""Parses HTML into a tree of elements that tests can search."""

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

VOID = ("br", "col", "hr", "img", "input", "link", "meta", "path", "rect", "wbr")  # elements without an end tag


class Parser(HTMLParser):
    """A parser that builds an element for each tag."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = ET.TreeBuilder()
        self.handle_data = self.builder.data  # type: ignore[assignment]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.builder.end(tag)


def parse_html(page: str) -> ET.Element:
    """Parse a page and return its root element."""
    parser = Parser()
    parser.feed(f"<page>{page}</page>")
    parser.close()
    return parser.builder.close()


def get_text(element: ET.Element) -> str:
    return "".join(element.itertext())
