"""Runs the notebooks of a handout in a real kernel, both unedited and with the solution in their cells."""

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from grader.tests.conftest import call_grader, get_student_environment
from grader.tests.integration.test_watch import wait_for_pid
from grader.tests.support.solution import SOLUTION
from torchkata.course import course

KATAS = list(course().katas)
MAGIC = "%%kata "


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks") / "katas"
    done = call_grader("release", "--out", folder, "--kata", "all", "--notebooks")
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="module")
def kernel(needs_jupyter: None, released: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookClient]:
    """Start a kernel in the handout, shared by all notebooks, and run their first cell.

    Two examples per test are enough to see whether a kata passes.
    """
    client = NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3", startup_timeout=600)
    own = {"IPYTHONDIR": str(tmp_path_factory.mktemp("ipython")), "PYTEST_ADDOPTS": "--examples=2"}
    with client.setup_kernel(cwd=str(released), env={**get_student_environment(), **own}):
        assert run_cell(client, read_cells(released / "core.ipynb")[0]) == "", "no package is missing here"
        [wheel] = released.glob("reference/*.whl")
        place = run_cell(client, "import torchkata; print(torchkata.__file__)")
        assert place.startswith(f"{released}/.kata/{wheel.name}/"), "the engine of the handout"
        yield client


def run_cell(kernel: NotebookClient, source: str) -> str:
    """Run a cell and return its HTML or its printed output."""
    kernel.nb.cells = [nbformat.v4.new_code_cell(source)]
    (cell,) = kernel.nb.cells
    kernel.execute_cell(cell, 0)
    return "".join(one["data"]["text/html"] if "data" in one else one["text"] for one in cell.outputs)


def read_cells(path: Path) -> list[str]:
    """Return the code cells of a notebook."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def run_notebooks(
    kernel: NotebookClient, folder: Path, tracks: Iterable[str], sources: dict[str, str]
) -> dict[str, str]:
    """Run notebooks with sources in place of stubs, and return the output of each kata's cell and of the last cell."""
    found = {}
    for track in tracks:
        for cell in read_cells(folder / f"{track}.ipynb")[1:]:
            line, _, stub = cell.partition("\n")
            kata = line.removeprefix(MAGIC)
            found[kata] = run_cell(kernel, f"{line}\n{sources.get(kata, stub)}")
    return found


@pytest.mark.parametrize("track", course().tracks)
def test_notebook_has_the_stubs_of_its_track(released: Path, track: str) -> None:
    first, *cells, last = read_cells(released / f"{track}.ipynb")
    assert (first, last) == (read_cells(released / "core.ipynb")[0], "%kata")
    names = [kata.name for kata in course().katas.values() if kata.track == track]
    assert [f"{cell}\n" for cell in cells] == [
        f"{MAGIC}{name}\n{course().stub(name).read_text('utf-8')}" for name in names
    ]


def test_untouched_notebook_counts_as_not_started(kernel: NotebookClient, released: Path) -> None:
    found = run_notebooks(kernel, released, ["core"], {})
    assert found.pop("%kata").count("– not started</span>") == len(found)
    assert {kata: shows for kata, shows in found.items() if "– not started</span>" not in shows} == {}
    for kata in KATAS:
        assert (released / f"assignment/{kata}.py").read_bytes() == course().stub(kata).read_bytes()


def test_notebook_with_the_solution_counts_as_done(kernel: NotebookClient, released: Path) -> None:
    solutions = {kata: (SOLUTION / f"{kata}.py").read_text("utf-8") for kata in KATAS}
    found = run_notebooks(kernel, released, ["core", "memory"], solutions)
    found.pop("%kata")
    assert {kata: shows for kata, shows in found.items() if "✓ done</span>" not in shows} == {}
    assert not [*(released / "assignment").glob("*.bak*")]


def test_notebook_uses_the_language_of_its_handout(tmp_path: Path) -> None:
    where = ["--repository", "https://example.org/you/katas?x=1&y=2"]
    done = call_grader(
        "release", "--out", tmp_path / "out", "--kata", "linear", "--language", "zh", "--notebooks", *where
    )
    assert done.code == 0, done.err
    assert [path.name for path in (tmp_path / "out").glob("*.ipynb")] == ["core.ipynb"]
    setup, kata, progress = read_cells(tmp_path / "out/core.ipynb")
    assert "git clone --quiet --depth 1 'https://example.org/you/katas?x=1&y=2' handout\n" in setup
    assert 'os.environ["KATA_LANG"] = "zh"\n' in setup
    assert f"{kata}\n" == MAGIC + "linear\n" + (tmp_path / "out/assignment/linear.py").read_text("utf-8")
    assert progress == "%kata"
    text = (tmp_path / "out/core.ipynb").read_text("utf-8")
    assert "# 从张量到训练好的模型" in text
    assert "## linear · 搭一个线性层" in text


def test_notebooks_are_reproducible_and_optional(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call_grader("release", "--out", tmp_path / "again", "--kata", "core", "--notebooks").code == 0
    assert (tmp_path / "again/core.ipynb").read_bytes() == (released / "core.ipynb").read_bytes()
    monkeypatch.setitem(sys.modules, "jupytext", None)
    refused = call_grader("release", "--out", tmp_path / "none", "--notebooks")
    assert (refused.code, refused.err) == (
        3,
        'grader: jupytext is not installed: pip install -e ".[grader,notebooks]"\n',
    )
    assert call_grader("release", "--out", tmp_path / "none").code == 0
    assert not [*(tmp_path / "none").glob("*.ipynb")]


def test_interrupting_a_cell_stops_only_its_own_run(kernel: NotebookClient, tmp_path: Path) -> None:
    source = f"import os, time\nopen('{tmp_path}/pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    group = int(run_cell(kernel, "import os; print(os.getpid())"))
    found = list[int]()

    def interrupt() -> None:
        found.append(wait_for_pid(tmp_path / "pid"))
        os.killpg(group, signal.SIGINT)  # as Jupyter does

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(CellExecutionError, match="KeyboardInterrupt"):
        run_cell(kernel, f"{MAGIC}linear\n{source}")
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(found[0], 0)
    assert "✓ done</span>" in run_cell(kernel, f"{MAGIC}linear\n{(SOLUTION / 'linear.py').read_text()}")


def test_code_that_exits_does_not_kill_notebook(kernel: NotebookClient) -> None:
    printed = run_cell(kernel, f"{MAGIC}linear\nimport os\nos.kill(os.getpid(), 9)\n")
    assert "linear: no result, because the run ended early (exit code -9)" in printed
    assert "hint 1 of 3" in run_cell(kernel, "%kata hint linear")
