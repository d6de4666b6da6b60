"""Parse a page into elements that tests can search."""

from html.parser import HTMLParser
from xml.etree import ElementTree as ET

VOID = ("br", "col", "hr", "img", "input", "link", "meta", "path", "rect", "wbr")  # elements that need no end


class Parser(HTMLParser):
    """Builds an element of each tag."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = ET.TreeBuilder()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        self.builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self.builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag not in VOID:
            self.builder.end(tag)

    def handle_data(self, data: str) -> None:
        """Add text."""
        self.builder.data(data)


def parse_html(page: str) -> ET.Element:
    """Return an element that holds those of a page."""
    parser = Parser()
    parser.feed(f"<page>{page}</page>")
    parser.close()
    return parser.builder.close()


def get_text(element: ET.Element) -> str:
    """Return all text in an element."""
    return "".join(element.itertext())
