"""IPython's `%%kata linear`, which writes the cell to its file and tests it, and `%kata` for all else."""

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from torchkata.cli import overview
from torchkata.cli.command import named
from torchkata.cli.terminal import CallError, say
from torchkata.course import CourseError, Kata, course
from torchkata.course.handout import free_name, stub_of
from torchkata.i18n import words
from torchkata.i18n.notes import said
from torchkata.pytest_plugin.history import hash_content, load_state, store_state, write_atomically

from .client import Client, command
from .html import progress

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def register(shell: "InteractiveShell") -> None:
    """Make the two known to a shell. Raises UsageError, which is told in one line."""
    from IPython.core.error import UsageError

    def kata(line: str, cell: str | None = None) -> None:
        """`%%kata linear` writes the cell to its file and tests it; `%kata` shows progress, `%kata hint` a hint."""
        try:
            does(line.split(), cell, client)
        except (CallError, CourseError, OSError) as error:
            raise UsageError(words("error", text=said(str(error)))) from None

    try:
        client = Client()
    except CourseError as error:
        raise UsageError(words("error", text=said(str(error)))) from None
    shell.magics_manager.register_function(kata, "line_cell")


def does(arguments: list[str], cell: str | None, client: Client) -> None:
    """Do what a magic asks for. Raises CallError, or OSError."""
    if cell is not None:
        if len(arguments) != 1:
            raise CallError(words("call.wrong", typed=" ".join(["%%kata", *arguments]), usage="%%kata KATA"))
        kata = named(arguments[0])
        write(kata, cell)
        test(kata, client)
    elif not arguments:
        with redirect_stdout(io.StringIO()) as printed:
            overview.show(load_state())
        show(progress(load_state()), printed.getvalue())
    elif arguments[0] in course().katas and len(arguments) == 1:
        test(course().katas[arguments[0]], client)
    else:
        command(arguments)


def write(kata: Kata, cell: str) -> None:
    """Put the cell into the kata's file; what somebody has written there by other means is kept beside it."""
    file, kept = course().assignment / f"{kata.name}.py", course().root / stub_of(kata.name)
    content, state = cell.encode(), load_state()
    own = file.read_bytes() if file.exists() else content
    stub = kept.read_bytes() if kept.is_file() else None
    if own not in (content, stub) and hash_content(own) != state.cells.get(kata.name):
        backup = free_name(file)
        write_atomically(backup, own)
        say("notebook.kept", kata=kata.name, backup=f"assignment/{backup.name}")
    write_atomically(file, content)
    state.cells[kata.name] = hash_content(content)
    store_state(state)


def test(kata: Kata, client: Client) -> None:
    """Run its tests, and show the verdict; what pytest has printed, where there is none."""
    ended = client.test(kata)
    if ended.html:
        show(ended.html, ended.printed)
    else:
        print(ended.printed, words("watch.no_verdict", kata=kata.name, code=ended.code), sep="\n")


def show(html: str, text: str) -> None:
    """HTML, or where a front end has none the text."""
    from IPython.display import publish_display_data

    publish_display_data({"text/html": html, "text/plain": text})
