"""The IPython magics: `%%kata NAME` writes a cell to its file and tests it; `%kata` runs the `kata` command."""

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from torchkata.cli import overview, predict
from torchkata.cli.command import find_kata
from torchkata.cli.terminal import UsageError, report_silence, say
from torchkata.course import CourseError, Kata, course
from torchkata.course.handout import free_name, stub_of
from torchkata.files import write_atomically
from torchkata.i18n import _, translate
from torchkata.pytest_plugin.history import hash_content, load_state, store_state

from .client import Client, run_command
from .html import progress

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def register(shell: "InteractiveShell") -> None:
    """Register both magics. They report errors by raising IPython's UsageError, which it shows on one line."""
    from IPython.core.error import UsageError as MagicError

    def kata(line: str, cell: str | None = None) -> None:
        """`%%kata linear` writes a cell to its file and tests it; `%kata` and `%kata hint` show progress and hints."""
        try:
            run_magic(line.split(), cell, client)
        except (UsageError, CourseError, OSError) as error:
            raise MagicError(_("kata: {text}", text=translate(error))) from None

    try:
        client = Client()
    except CourseError as error:
        raise MagicError(_("kata: {text}", text=translate(error))) from None
    shell.magics_manager.register_function(kata, "line_cell")


def run_magic(arguments: list[str], cell: str | None, client: Client) -> None:
    """Run a magic. Raises UsageError if the arguments are invalid, or OSError if a file can't be read or written."""
    if cell is not None:
        if len(arguments) != 1:
            raise UsageError(_("wrong arguments; usage: {usage}", usage="%%kata KATA"))
        kata = find_kata(arguments[0])
        write(kata, cell)
        test(kata, client)
    elif not arguments:
        with redirect_stdout(io.StringIO()) as printed:
            overview.show(load_state())
        show(progress(load_state()), printed.getvalue())
    elif arguments[0] in course().katas and len(arguments) == 1:
        test(course().katas[arguments[0]], client)
    elif arguments[0] == "predict" and len(arguments) == 2:
        predict.predict(find_kata(arguments[1]), input)  # the kernel can ask, unlike a process that it starts
    else:
        run_command(arguments)


def write(kata: Kata, cell: str) -> None:
    """Write the cell to the kata's file. If the file was edited outside of the notebook, make a backup."""
    file, original = course().assignment / f"{kata.name}.py", course().root / stub_of(kata.name)
    content, state = cell.encode(), load_state()
    present = file.read_bytes() if file.exists() else content
    stub = original.read_bytes() if original.is_file() else None
    if present not in (content, stub) and hash_content(present) != state.cells.get(kata.name):
        backup = free_name(file)
        write_atomically(backup, present)
        names = {"kata": kata.name, "backup": f"assignment/{backup.name}"}
        say("assignment/{kata}.py had been changed outside this notebook: that version is saved as {backup}", **names)
    write_atomically(file, content)
    state.cells[kata.name] = hash_content(content)
    store_state(state)


def test(kata: Kata, client: Client) -> None:
    """Run the tests of a kata and display the report. If the run ends early, print pytest's output instead."""
    run = client.test(kata)
    if run.html:
        show(run.html, run.printed)
    else:
        print(run.printed)
        report_silence(kata.name, run.code)


def show(html: str, text: str) -> None:
    """Display HTML, with plain text for front ends that do not support HTML."""
    from IPython.display import publish_display_data

    publish_display_data({"text/html": html, "text/plain": text})
