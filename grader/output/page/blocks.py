"""The HTML blocks of the class page. A submission has several blocks: its parts, code, findings and marks.

Equal blocks are stored only once, since many students make the same mistake. The others are compressed in chunks of
similar blocks, and kept in a temporary file until the page is written. `report.js` decompresses the chunks of a
submission when it is opened, so the page of a large class is small.
"""

import base64
import hashlib
import zlib
from collections.abc import Hashable, Iterator
from typing import IO

import msgspec
from markupsafe import Markup

from grader.output.page.html import load_templates

CHUNK_SIZE = 2**18  # number of characters in a chunk before compression


class Blocks:
    """Collects blocks. The place of a block is the number of its chunk and its index within the chunk."""

    def __init__(self, file: IO[str]) -> None:
        self.places: dict[bytes, str] = {}  # keyed by the digest of the template's name and data
        self.open: dict[Hashable, tuple[int, list[str]]] = {}  # number and blocks of each incomplete chunk, by kind
        self.chunks = 0
        self.file = file

    def add(self, template: str, kind: str = "", **data: Hashable) -> str:
        """Render a block from this template and data, and return its place.

        `kind` groups blocks with similar text in the same chunks.
        """
        key = hashlib.blake2b(msgspec.json.encode((template, *data.values())), digest_size=16).digest()
        if key not in self.places:
            if (template, kind) not in self.open:
                self.open[template, kind] = self.chunks, []
                self.chunks += 1
            chunk, blocks = self.open[template, kind]
            self.places[key] = f"{chunk}.{len(blocks)}"
            blocks.append(load_templates().get_template(template).render(data))
            if sum(map(len, blocks)) > CHUNK_SIZE:
                self.write_chunk(*self.open.pop((template, kind)))
        return self.places[key]

    def write_chunk(self, number: int, blocks: list[str]) -> None:
        """Write a chunk to the temporary file, on a line of its own."""
        text = "".join(f"<template>{block}</template>" for block in blocks)
        content = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
        self.file.write(f'<template id="chunk-{number}">{content}</template>\n')

    def read_chunks(self) -> Iterator[Markup]:
        """Yield the HTML of all chunks. Nothing can be added afterwards."""
        for number, blocks in self.open.values():
            self.write_chunk(number, blocks)
        self.file.seek(0)
        yield from map(Markup, self.file)
