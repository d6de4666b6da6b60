"""What a kata must have besides tests that hold: `grader certify` names everything that is missing, a line each.

The tests of this project call the same function, so that they refuse no kata that certify accepts. What is a matter of
taste (how long a text is, how many entries the zoo has, a translation) is no requirement.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torchkata
from grader.base.processes import python
from grader.commands.package.project import files_of
from grader.commands.release.contract import differences, written_already
from grader.commands.translations import wrong_translations
from grader.proof import zoo
from torchkata.cli.about import PAGE
from torchkata.course import Kata, course
from torchkata.course.load import read_toml

MODULES = re.compile(r"(?<![\w.])(torch|nn|np|os|math|random)\.\w")
WORKER_HAS = tuple(f"torchkata.{name}" for name in ("DispatchMode", "Plain", "call", "typed"))  # for probes to import
TRACK, KATA, NEEDS = re.compile(r"## (.+)"), re.compile(r"### (\w+): (.+)"), re.compile(r"Needs: (.+)")
TOOLS = {  # of style and types, where the course has settings for them
    "ruff": (["check", "--quiet", "--output-format=concise"], ["format", "--check"]),
    "mypy": (["--no-error-summary", "--no-pretty"],),
}


def missing_in(katas: Sequence[Kata], *, quick: bool = False) -> dict[str, list[str]]:
    """Return what each of these katas lacks, by its name: a line each, which names the file and what to add.

    A quick look leaves mypy out.
    """
    found = {kata.name: list(missing_files(kata)) for kata in katas}
    whole = [kata for kata in katas if not found[kata.name]]
    for kata in whole:
        found[kata.name] += [*missing_in_stub(kata), *missing_in_tests(kata), *missing_in_zoo(kata)]
        found[kata.name] += [*missing_on_page(kata), *wrong_translations(kata)]
    for line in [*said_by_examples(whole), *said_by_tools(whole, quick=quick)]:
        place = Path(line.partition(":")[0])
        names = [kata.name for kata in whole if place in files_by_path(kata)]
        found[next(iter(names), whole[0].name)].append(line)
    return found


def shown(path: Path) -> str:
    """Return a file's path below the course."""
    return path.relative_to(course().root).as_posix()


def files_by_path(kata: Kata) -> list[Path]:
    """Return the files of a kata, by their paths below the course."""
    own = [course().stub(kata.name), course().test_file(kata.name), course().tests / "probes" / f"{kata.name}.py"]
    paths = [*(path for path in own if path.is_file()), *files_of(course().folder(kata.name))]
    return [path.relative_to(course().root) for path in paths]


def missing_files(kata: Kata) -> Iterator[str]:
    """Yield the files without which nothing else can be said of a kata, and those that Python can't read."""
    for path in (course().stub(kata.name), course().solution(kata.name), zoo.wrong_file(kata)):
        if not path.is_file():
            yield f"{shown(path)}: there is no such file"
    for path in (course().root / file for file in files_by_path(kata) if file.suffix == ".py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            yield f"{shown(path)}: Python can't read it ({error})"


def missing_in_stub(kata: Kata) -> Iterator[str]:
    """Yield what a stub, its solution and its hints lack."""
    place = shown(course().stub(kata.name))
    stub, solution = (path.read_text("utf-8") for path in (course().stub(kata.name), course().solution(kata.name)))
    for name in written_already(stub):
        yield f"{place}: {name} is written; a stub ends with `raise NotImplementedError`"
    for difference in differences(stub, solution):
        yield f"{place}: {difference}"
    imports = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    for name in sorted({*MODULES.findall(stub)} - imported):
        yield f"{place}: its text speaks of {name}, and it does not import {name}"
    hints = re.sub(r"\W", "", " ".join(kata.hints))
    for line in map(str.strip, solution.splitlines()):
        is_code = re.search(r"[=(]", line) and not line.startswith("def ")
        if is_code and len(bare := re.sub(r"\W", "", line)) >= 24 and bare in hints:
            yield f"{shown(course().folder(kata.name))}/kata.toml: a hint has a line of the solution: `{line}`"


def missing_in_tests(kata: Kata) -> Iterator[str]:
    """Yield what the files of tests, probes and oracle lack: a sentence for each test, and imports that may be."""
    file = course().test_file(kata.name)
    yield from without_sentence(file)
    probes = course().tests / "probes" / f"{kata.name}.py"
    yield from wrong_imports(file, ("tests", "torchkata", "reference"))
    if probes.is_file():
        yield from wrong_imports(probes, WORKER_HAS)
    for path in course().folder(kata.name).rglob("*.py"):
        yield from wrong_imports(path, ("reference", "torchkata"))


def without_sentence(file: Path) -> Iterator[str]:
    """Yield the tests of a file whose docstring does not begin with a sentence."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        if not (ast.get_docstring(node) or "").partition("\n")[0].endswith("."):
            yield f"{shown(file)}: {node.name} needs a docstring that begins with one sentence on one line"


def wrong_imports(file: Path, allowed: Sequence[str]) -> Iterator[str]:
    """Yield what a file imports of the project and must not."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            ours = name.partition(".")[0] in ("torchkata", "reference", "tests", "grader", "assignment")
            if name.startswith("torchkata.") and name.removeprefix("torchkata.") not in torchkata.__all__:
                yield f"{shown(file)}: it imports {name}; of torchkata it may import what `torchkata.__all__` lists"
            elif ours and not any(f"{name}.".startswith(f"{one}.") for one in allowed):
                yield f"{shown(file)}: it imports {name}; of this project it may import {', '.join(allowed)}"


def missing_in_zoo(kata: Kata) -> Iterator[str]:
    """Yield what the zoo of a kata lacks."""
    names = [name for name, _ in zoo.entries(kata, read_toml(zoo.wrong_file(kata)))]
    if not names:
        yield f"{shown(zoo.wrong_file(kata))}: it has no entry; add a mistake that the tests must catch"
    for name in (name for name in names if name not in zoo.read_caught_by(kata)):
        place = shown(zoo.caught_by_file(kata))
        yield f"{place}: it lacks {name}; `grader certify --only zoo --write-caught-by` adds it"
    for one in zoo.right(kata):
        if not one.words:
            file = course().folder(kata.name) / "right" / f"{one.name}.py"
            yield f"{shown(file)}: it needs a docstring that says what is unusual in it"


@dataclass(frozen=True)
class Section:
    """What the page of katas says of one kata."""

    track: str
    name: str
    title: str
    text: str


def sections() -> list[Section]:
    """Return the sections of the page of katas, in its order; none where the course has no such page."""
    found, track = [], ""
    path = course().root / PAGE
    for part in re.split(r"^(?=##)", path.read_text("utf-8"), flags=re.MULTILINE)[1:] if path.is_file() else ():
        heading, _, text = part.partition("\n")
        if kata := KATA.fullmatch(heading):
            found.append(Section(track, kata[1], kata[2], text.strip()))
        elif heading_of_track := TRACK.fullmatch(heading):
            track = heading_of_track[1]
    return found


def missing_on_page(kata: Kata) -> Iterator[str]:
    """Yield what the page of katas lacks; nothing where the course has no such page."""
    if not (course().root / PAGE).is_file():
        return
    page, track = sections(), course().tracks[kata.track].title
    own = next((one for one in page if one.name == kata.name), None)
    if own is None:
        heading = f"### {kata.name}: {kata.title}"
        yield f"{PAGE}: add a section `{heading}` below `## {track}`; it ends with a line such as `Needs: nothing.`"
        return
    if own.title != kata.title:
        yield f"{PAGE}: the section of {kata.name} should begin with `### {kata.name}: {kata.title}`"
    if own.track != track:
        yield f"{PAGE}: the section of {kata.name} belongs below `## {track}`"
    elif wrong := misplaced(kata, [one.name for one in page if one.track == track]):
        yield f"{PAGE}: the section of {kata.name} should come {wrong}, as `place` in its kata.toml says"
    if not NEEDS.sub("", own.text).strip():
        yield f"{PAGE}: the section of {kata.name} should say what the kata is about"
    needs = NEEDS.findall(own.text)
    earlier = [*course().katas][: [*course().katas].index(kata.name)]
    needed = re.findall(r"`(\w+)`", needs[-1]) if needs else []
    if not needed and needs != ["nothing."]:
        yield f"{PAGE}: the section of {kata.name} needs a line `Needs: nothing.`, or one that names earlier katas"
    if absent := {*kata.builds_on} - {*needed}:
        yield f"{PAGE}: `Needs:` of {kata.name} should name `{min(absent)}`, on which it builds"
    if later := {*needed} - {*earlier}:
        yield f"{PAGE}: `Needs:` of {kata.name} names `{min(later)}`, which does not come before it"


def misplaced(kata: Kata, on_page: list[str]) -> str:
    """Return where among the sections of its track a kata belongs, "" if it is there."""
    order = [one for one in course().katas if one in on_page]
    before, after = (names[: names.index(kata.name)] for names in (on_page, order))
    if {*before} & {*order} == {*after}:
        return ""
    return f"after that of {after[-1]}" if after else "first"


def said_by_examples(katas: Sequence[Kata]) -> list[str]:
    """Return what is wrong with the examples, sums and names of torch in the texts of these katas."""
    if not katas:
        return []
    command = python("-m", "grader.proof.examples", str(course().root), *(kata.name for kata in katas))
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    died = [f"{shown(course().stub(katas[0].name))}: the examples can't be run: {last_line(done.stderr)}"]
    return [*done.stdout.splitlines(), *(died if done.returncode else [])]


def said_by_tools(katas: Sequence[Kata], *, quick: bool) -> list[str]:
    """Return what the course's own tools say of the files of these katas."""
    project = tomllib.loads((course().root / "pyproject.toml").read_text("utf-8")).get("tool", {})
    files = [str(file) for kata in katas for file in files_by_path(kata) if file.suffix == ".py"]
    lines: list[str] = []
    for tool, calls in TOOLS.items() if files else ():
        if tool in project and find_spec(tool) is not None and not (quick and tool == "mypy"):
            for call in calls:
                excluded = ["--force-exclude"] if tool == "ruff" else []
                command = python("-m", tool, *call, *excluded, *files)
                done = subprocess.run(command, cwd=course().root, capture_output=True, text=True, check=False)
                lines += unformatted(done.stdout) if "format" in call else done.stdout.splitlines()
                if done.returncode and not done.stdout:
                    lines.append(f"pyproject.toml: {tool} {call[0]} fails: {last_line(done.stderr)}")
    return lines


def unformatted(text: str) -> list[str]:
    """Return a line for each file that ruff would format, which its versions print in two ways."""
    files = re.findall(r"^(?:Would reformat: |\s*--> )(.+?)(?::\d+:\d+)?$", text, re.MULTILINE)
    return [f"{file}: `ruff format` would change it" for file in dict.fromkeys(files)]


def last_line(text: str) -> str:
    """Return the last line that is not empty."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it ended without a word")
