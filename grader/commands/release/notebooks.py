"""A notebook for each track of a handout: of each kata the idea, and a cell that begins as the stub."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from grader.base.errors import MachineError
from torchkata.cli.about import find_section, join_lines
from torchkata.course import Kata, course
from torchkata.i18n import LANGUAGES, Language, find_shared_text, find_text, first_translation, texts

CLONE = """\
if not os.path.isdir("torchkata"):  # as on Colab, which opens a notebook alone
    ![ -d handout ] || git clone --quiet --depth 1 {repository} handout
    %cd -q handout
"""
SETUP = """\
sys.path.insert(0, os.getcwd())
!"{sys.executable}" -m torchkata.notebook.install
%load_ext torchkata
"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def notebooks(
    katas: Sequence[Kata], files: Mapping[str, bytes], language: str, repository: str | None
) -> dict[str, bytes]:
    """The notebooks, by path; `files` has the stubs. Raises MachineError where what makes them is not installed."""
    chosen: Language = next((one for one in LANGUAGES if one == language), "en")
    made = {}
    for track, group in groupby(katas, key=lambda kata: kata.track):
        in_it = list(group)
        stubs = {kata.name: files[f"assignment/{kata.name}.py"].decode() for kata in in_it}
        made[f"{track}.ipynb"] = notebook("\n".join(parts(in_it, stubs, chosen, repository)))
    return made


def parts(katas: Sequence[Kata], stubs: Mapping[str, str], chosen: Language, repository: str | None) -> Iterator[str]:
    """The notebook as Markdown, in which a fenced block of Python is a cell."""
    track, words = course().tracks[katas[0].track], texts(chosen)["words"]
    yield f"# {first_translation(track.title, find_shared_text('tracks', track.name, chosen=chosen))}\n"
    yield words["notebook.intro"].format(kata=katas[0].name) + "\n"
    yield cell(
        "import os, sys\n"
        + (CLONE.format(repository=shlex.quote(repository)) if repository else "")
        + (f'os.environ["KATA_LANG"] = "{chosen}"\n' if chosen != "en" else "")
        + SETUP
    )
    for kata in katas:
        yield f"## {kata.name} · {first_translation(kata.title, find_text(kata.name, 'title', chosen=chosen))}\n"
        about = first_translation(find_section(kata), find_text(kata.name, "about", chosen=chosen))
        yield join_lines(about.strip()) + "\n"
        yield cell(f"%%kata {kata.name}\n{stubs[kata.name]}")
    yield cell("%kata")


def cell(code: str) -> str:
    """A cell of code, fenced longer than any fence in it."""
    fence = "`" * 4
    return f"{fence}python\n{code.rstrip()}\n{fence}\n"


def notebook(markdown: str) -> bytes:
    """The file of a notebook: the same bytes for the same text."""
    try:
        import jupytext
    except ImportError:
        raise MachineError('jupytext is not installed: pip install -e ".[grader,notebooks]"') from None
    made = jupytext.reads(markdown, fmt="md")
    made.metadata = {"kernelspec": KERNEL}
    for place, one in enumerate(made.cells):
        one.id = f"cell-{place}"
        one.metadata = {}
    written: str = jupytext.writes(made, fmt="ipynb")
    return written.encode()
