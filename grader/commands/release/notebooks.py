"""The notebooks of a handout, one per track. They contain the explanation of each kata and a cell with its stub."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from grader.base.errors import MachineError
from torchkata.cli.about import find_section, join_lines
from torchkata.course import Kata, course
from torchkata.i18n import LANGUAGES, Language, find_text, first_translation, translate
from torchkata.i18n.katas import describe_effort, title_of, title_of_track
from torchkata.inside.text import Text

CLONE = """\
if not os.path.isdir("reference"):  # on Colab, which opens only the notebook
    ![ -d handout ] || git clone --quiet --depth 1 {repository} handout
    %cd -q handout
"""
SETUP = """\
[wheel] = glob.glob("reference/torchkata-*.whl")
engine = os.path.abspath(f".kata/{os.path.basename(wheel)}")
shutil.unpack_archive(wheel, engine, "zip")
sys.path.insert(0, engine)
os.environ["PYTHONPATH"] = engine + os.pathsep + os.environ.get("PYTHONPATH", "")  # for the tests
!"{sys.executable}" -m torchkata.notebook.install
%load_ext torchkata
"""
INTRO = Text(
    "Run the first cell: it installs missing packages, but keeps a torch that is already installed. Then fill in a "
    "cell that begins with\n`%%kata` and run it. The cell is written to its file in `assignment/` and tested in a "
    "separate process, without the variables of\nthis notebook, and the result appears below it. `%kata` shows your "
    "progress, `%kata hint {kata}` gives a hint, and `%kata export` writes\nthe zip file to hand in."
)
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def make_notebooks(
    katas: Sequence[Kata], files: Mapping[str, bytes], language: str, repository: str | None
) -> dict[str, bytes]:
    """Return the notebooks, keyed by path. `files` contains the stubs. Raises MachineError if jupytext is missing."""
    chosen: Language = next((one for one in LANGUAGES if one == language), "en")
    notebooks = {}
    for track, group in groupby(katas, key=lambda kata: kata.track):
        members = list(group)
        stubs = {kata.name: files[f"assignment/{kata.name}.py"].decode() for kata in members}
        notebooks[f"{track}.ipynb"] = to_notebook("\n".join(make_cells(members, stubs, chosen, repository)))
    return notebooks


def make_cells(
    katas: Sequence[Kata], stubs: Mapping[str, str], chosen: Language, repository: str | None
) -> Iterator[str]:
    """Yield the notebook as Markdown, in which each fenced block of Python becomes a cell."""
    yield f"# {title_of_track(course().tracks[katas[0].track], chosen)}\n"
    yield translate(Text(INTRO.english, kata=katas[0].name), chosen) + "\n"
    yield fence(
        "import glob, os, shutil, sys\n"
        + (CLONE.format(repository=shlex.quote(repository)) if repository else "")
        + (f'os.environ["KATA_LANG"] = "{chosen}"\n' if chosen != "en" else "")
        + SETUP
    )
    for kata in katas:
        yield f"## {kata.name} · {title_of(kata, chosen)}\n"
        if effort := describe_effort(kata, chosen):
            yield effort + "\n"
        about = first_translation(find_section(kata), find_text(kata.name, "about", chosen))
        yield join_lines(about.strip()) + "\n"
        yield fence(f"%%kata {kata.name}\n{stubs[kata.name]}")
    yield fence("%kata")


def fence(code: str) -> str:
    """Return the code fenced by four backticks, because the code may contain blocks fenced by three backticks."""
    return f"````python\n{code.rstrip()}\n````\n"


def to_notebook(markdown: str) -> bytes:
    """Convert Markdown to the bytes of a notebook file. The same text always produces the same bytes."""
    try:
        import jupytext
    except ImportError:
        raise MachineError('jupytext is not installed: pip install -e ".[grader,notebooks]"') from None
    notebook = jupytext.reads(markdown, fmt="md")
    notebook.metadata = {"kernelspec": KERNEL}
    for place, cell in enumerate(notebook.cells):
        cell.id = f"cell-{place}"
        cell.metadata = {}
    return str(jupytext.writes(notebook, fmt="ipynb")).encode()
