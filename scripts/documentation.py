"""Hooks for MkDocs and mkdocstrings, which build the documentation site (`mkdocs.yml`)."""

import os
import re
from pathlib import Path
from typing import Any

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.formulas import typeset
from torchkata.cli.about import find_section, join_lines
from torchkata.course import Kata, Track, course
from torchkata.i18n.katas import describe_effort, idea_of, title_of, title_of_track

ROOT = Path(__file__).parents[1]
FILES = ("*.md", "constraints.txt", "changes/README.md", "docs/**/*")
CHINESE = "docs/zh/"
LINK = re.compile(r"\]\((?=\w+\.md|images/)")  # a link to another page or a picture, relative to `docs/`
NAME = re.compile(r"^- `([\w.]+)`$", re.MULTILINE)
LIST = re.compile(r"^(?!- )(\S.*\n)(?=- )", re.MULTILINE)  # a list directly below a paragraph
EXAMPLE = re.compile(r"^Example:\n((?:    .*\n?|\n)+)", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Give every document its path in the repository, so that links between documents also work on the site."""
    for file in [*files.documentation_pages(), *files.media_files()]:
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for path in sorted(path for pattern in FILES for path in ROOT.glob(pattern) if path.is_file()):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Complete the pages that are partly generated, and link each page to the same page in Chinese."""
    path = page.file.src_uri
    name = path.removeprefix("docs/")
    os.environ["KATA_LANG"] = "zh" if path.startswith(CHINESE) else "en"
    if path == "docs/api.md":
        markdown = NAME.sub(r"::: torchkata.\1", markdown)
    if path == "docs/katas.md":
        for kata in course().katas.values():
            heading = f"### {kata.name}: {kata.title}\n"
            markdown = markdown.replace(heading, f"{heading}\n> {describe_effort(kata)}\n")
    if path == f"{CHINESE}katas.md":
        markdown += "".join(
            f"\n## {title_of_track(track)}\n\n{describe_katas(track)}" for track in course().tracks.values()
        )
    if name.endswith("katas.md"):
        markdown = typeset(markdown)
    if path.startswith(CHINESE):
        return join_lines(markdown)
    if path != name and files.get_file_from_path(CHINESE + name) and f"(zh/{name})" not in markdown:
        return markdown.replace("\n", f"\n\n[中文](zh/{name})\n", 1)
    return markdown


def describe_katas(track: Track) -> str:
    """Return the sections of a track's katas in the language of the page."""
    return "\n".join(describe_kata(kata) for kata in course().katas.values() if kata.track == track.name)


def describe_kata(kata: Kata) -> str:
    """Return the section of a kata in the language of the page."""
    idea = LIST.sub(r"\1\n", LINK.sub("](../", idea_of(kata, find_section(kata))))
    return f"### {kata.name}：{title_of(kata)}\n\n> {describe_effort(kata)}\n\n{idea}\n"


def on_page_context(context: dict[str, Any], *, page: Page, config: MkDocsConfig, **_: object) -> dict[str, Any]:
    """Translate the site's controls into the language of the page."""
    config.theme["language"] = "zh" if page.file.src_uri.startswith(CHINESE) else "en"
    return context


def on_post_page(output: str, *, page: Page, **_: object) -> str:
    """Label the search dialog for screen readers, and make tables focusable so that the keyboard can scroll them."""
    label = "搜索" if page.file.src_uri.startswith(CHINESE) else "Search"
    output = output.replace('role="dialog"', f'role="dialog" aria-label="{label}"')
    return output.replace("<table>", '<table tabindex="0">')


class ExampleBlocks(Extension):
    """Shows the examples in docstrings as code."""

    def on_instance(self, *, obj: Object, **_: object) -> None:
        """Put the lines below `Example:` into a code block."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(r"Example:\n    ```python\n\1\n    ```\n", obj.docstring.value)
