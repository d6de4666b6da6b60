"""Every notebook of a handout, run by a real kernel: untouched, and with the solution in its cells."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader.tests.conftest import ask, students_environment
from grader.tests.solution import SOLUTION
from torchkata.course import course

KATAS = list(course().katas)
MAGIC = "%%kata "


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handout with all katas and their notebooks."""
    folder = tmp_path_factory.mktemp("notebooks") / "katas"
    done = ask("release", folder, "--track", "all", "--notebooks")
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="module")
def kernel(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookClient]:
    """A kernel in that handout, which all notebooks share; two examples are enough to tell how a kata ends."""
    client = NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3")
    own = {"IPYTHONDIR": str(tmp_path_factory.mktemp("ipython")), "PYTEST_ADDOPTS": "--examples=2"}
    with client.setup_kernel(cwd=str(released), env={**students_environment(), **own}):
        yield client


def shown(kernel: NotebookClient, source: str) -> str:
    """What a cell shows: HTML, or what it prints."""
    kernel.nb.cells = [nbformat.v4.new_code_cell(source)]
    (cell,) = kernel.nb.cells
    kernel.execute_cell(cell, 0)
    return "".join(one["data"]["text/html"] if "data" in one else one["text"] for one in cell.outputs)


def executed(kernel: NotebookClient, path: Path, sources: dict[str, str]) -> dict[str, str]:
    """Run a notebook with these sources in the place of stubs: what each kata's cell shows, and the last one."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            first, _, stub = cell.source.partition("\n")
            kata = first.removeprefix(MAGIC)
            found[kata] = shown(kernel, f"{first}\n{sources.get(kata, stub)}")
    return found


def test_every_untouched_notebook_is_not_started_and_leaves_the_stubs_as_they_are(
    kernel: NotebookClient, released: Path
) -> None:
    found: dict[str, str] = {}
    for track in course().tracks:
        found |= executed(kernel, released / f"{track}.ipynb", {})
        assert "– not started" in found["%kata"]
    assert all("– not started</span>" in found[kata] for kata in KATAS)
    for kata in KATAS:
        assert (released / f"assignment/{kata}.py").read_bytes() == course().stub(kata).read_bytes()


def test_every_notebook_with_the_solution_in_its_cells_is_done(kernel: NotebookClient, released: Path) -> None:
    solutions = {kata: (SOLUTION / f"{kata}.py").read_text("utf-8") for kata in KATAS}
    found: dict[str, str] = {}
    for track in course().tracks:
        found |= executed(kernel, released / f"{track}.ipynb", solutions)
    assert {kata: found[kata] for kata in KATAS if "✓ done</span>" not in found[kata]} == {}
    assert "All done. To hand in: kata export" in found["%kata"]
    assert not [*(released / "assignment").glob("*.bak*")]
