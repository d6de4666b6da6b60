"""The files and texts that every kata must have. `grader certify` lists all that are missing.

The tests of this project call the same function, so they accept the same katas as `certify`. The length of texts, the
number of entries in the zoo and translations are not checked.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path

import torchkata
from grader.base.processes import python
from grader.commands.package.project import files_of
from grader.commands.release.contract import find_differences, find_written
from grader.proof import zoo
from torchkata.cli.about import PAGE, find_section
from torchkata.course import CourseError, Kata, course
from torchkata.course.load import read_toml
from torchkata.course.predictions import is_positive, load_questions
from torchkata.inside.source.names import Names
from torchkata.pytest_plugin.packages import is_available

MODULES = re.compile(r"(?<![\w.])(torch|nn|np|os|math|random)\.\w")
WORKER_HAS = tuple(  # what a probe can import
    f"torchkata.{name}" for name in ("DispatchMode", "Plain", "Text", "call_methods", "typed")
)
TRACK, KATA, NEEDS = re.compile(r"## (.+)"), re.compile(r"### (\w+): (.+)"), re.compile(r"Needs: (.+)")
MAX_DRAWS = 1000  # combinations of sizes that are tried per question
TOOLS = {  # tools to run if the course has settings for them
    "ruff": (
        ["check", "--quiet", "--output-format=concise", "--force-exclude"],
        ["format", "--check", "--force-exclude"],
    ),
    "mypy": (["--no-error-summary", "--no-pretty"],),
}


def find_missing(katas: Sequence[Kata], *, quick: bool = False) -> dict[str, list[str]]:
    """Return a line with a remedy for each missing or wrong file or text, grouped by kata. `quick` skips mypy."""
    found = {kata.name: list(missing_files(kata)) for kata in katas}
    whole = [kata for kata in katas if not found[kata.name]]
    for user, line in find_missing_fallbacks(katas):
        found[user].append(line)
    for kata in whole:
        found[kata.name] += [*missing_in_stub(kata), *missing_in_tests(kata), *missing_in_zoo(kata)]
        found[kata.name] += missing_packages(kata)
        found[kata.name] += [*missing_on_page(kata), *wrong_questions(kata)]
    for line in run_tools(whole, quick=quick):
        place = Path(line.partition(":")[0])
        names = [kata.name for kata in whole if place in files_by_path(kata)]
        found[next(iter(names), whole[0].name)].append(line)
    return found


def find_missing_fallbacks(katas: Sequence[Kata]) -> Iterator[tuple[str, str]]:
    """Yield a kata that builds on a kata without a fallback, and a message, for each missing fallback."""
    users = {name: kata.name for kata in reversed(katas) for name in course().prerequisites(kata.name)}
    for name, user in users.items():
        if not (path := course().fallback(name)).is_file():
            why = f"{user} needs a fallback for {name}, which a student may not have finished"
            yield user, f"{relative(path)} is missing: {why}"


def relative(path: Path) -> str:
    """Return the path of a file relative to the course."""
    return path.relative_to(course().root).as_posix()


def files_by_path(kata: Kata) -> list[Path]:
    """Return the paths of a kata's files, relative to the course."""
    own = [course().stub(kata.name), course().test_file(kata.name), course().tests / "probes" / f"{kata.name}.py"]
    paths = [*(path for path in own if path.is_file()), *files_of(course().folder(kata.name))]
    return [path.relative_to(course().root) for path in paths]


def missing_files(kata: Kata) -> Iterator[str]:
    """Yield required files that are missing, and files that have syntax errors."""
    for path in (course().stub(kata.name), course().solution(kata.name), course().folder(kata.name) / "wrong.toml"):
        if not path.is_file():
            yield f"{relative(path)}: there is no such file"
    for path in (course().root / file for file in files_by_path(kata) if file.suffix == ".py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            yield f"{relative(path)}: not valid Python ({error})"


def missing_in_stub(kata: Kata) -> Iterator[str]:
    """Yield problems with a stub, its solution and its hints."""
    place = relative(course().stub(kata.name))
    stub, solution = (path.read_text("utf-8") for path in (course().stub(kata.name), course().solution(kata.name)))
    for name in find_written(stub):
        yield f"{place}: {name} is already implemented; a stub must end with `raise NotImplementedError`"
    for difference in find_differences(stub, solution):
        yield f"{place}: {difference}"
    imports = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    for name in sorted({*MODULES.findall(stub)} - imported):
        yield f"{place}: the text mentions {name}; import it"
    hints = re.sub(r"\W", "", " ".join(kata.hints))
    for line in map(str.strip, solution.splitlines()):
        is_code = re.search(r"[=(]", line) and not line.startswith("def ")
        if is_code and len(bare := re.sub(r"\W", "", line)) >= 24 and bare in hints:
            folder = relative(course().folder(kata.name))
            yield f"{folder}/kata.toml: a hint contains a line of the solution: `{line}`"


def missing_in_tests(kata: Kata) -> Iterator[str]:
    """Yield problems with tests, probes and oracle, such as missing docstrings and forbidden imports."""
    file = course().test_file(kata.name)
    yield from missing_docstrings(file)
    probes = course().tests / "probes" / f"{kata.name}.py"
    yield from wrong_imports(file, ("tests", "torchkata", "reference"))
    if probes.is_file():
        yield from wrong_imports(probes, WORKER_HAS)
    for path in course().folder(kata.name).rglob("*.py"):
        yield from wrong_imports(path, ("reference", "torchkata"))


def missing_packages(kata: Kata) -> Iterator[str]:
    """Yield each package that a kata's code or tests import, but that students do not install."""
    probes = course().tests / "probes" / f"{kata.name}.py"
    for path in (course().stub(kata.name), course().solution(kata.name), course().test_file(kata.name), probes):
        imports = {name for _, name in Names(ast.parse(path.read_bytes())).imports} if path.is_file() else set()
        for name in sorted({one.partition(".")[0] for one in imports}):
            if not is_available(name) and name not in ("grader", "assignment"):
                remedy = "add its package to the dependency group `students` in pyproject.toml"
                yield f"{relative(path)}: imports {name}, which students do not have; {remedy}"


def missing_docstrings(file: Path) -> Iterator[str]:
    """Yield a message for each test without a docstring, or with a docstring that does not start with a sentence."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        if not (ast.get_docstring(node) or "").partition("\n")[0].endswith("."):
            yield f"{relative(file)}: {node.name} needs a docstring that begins with one sentence on one line"


def wrong_imports(file: Path, allowed: Sequence[str]) -> Iterator[str]:
    """Yield the project imports that are not allowed in a file."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            ours = name.partition(".")[0] in ("torchkata", "reference", "tests", "grader", "assignment")
            if name.startswith("torchkata.") and name.removeprefix("torchkata.") not in torchkata.__all__:
                yield f"{relative(file)}: imports {name}; it may import only the names in `torchkata.__all__`"
            elif ours and not any(f"{name}.".startswith(f"{one}.") for one in allowed):
                yield f"{relative(file)}: imports {name}; of this project, it may import only {', '.join(allowed)}"


def missing_in_zoo(kata: Kata) -> Iterator[str]:
    """Yield a message for each missing part of a kata's zoo."""
    wrong = course().folder(kata.name) / "wrong.toml"
    names = [name for name, _ in zoo.read_entries(kata, read_toml(wrong))]
    if not names:
        yield f"{relative(wrong)}: has no entry; add a mistake that the tests must catch"
    for name in (name for name in names if name not in zoo.read_caught_by(kata)):
        place = relative(zoo.get_caught_by_path(kata))
        yield f"{place}: {name} is missing; `grader certify --only zoo` adds it"
    for entry in zoo.load_right(kata):
        if not entry.words:
            name = f"{relative(course().folder(kata.name))}: the right entry {entry.name}"
            yield f"{name} does not say what is unusual about it (docstring, or `says` in right.toml)"


def list_headings(page: str) -> list[tuple[str, str, str]]:
    """Return the track, the name and the title of each kata with a section on the page of katas, in order."""
    found, track = [], ""
    for heading in re.findall("^##.*", page, re.MULTILINE):
        if kata := KATA.fullmatch(heading):
            found.append((track, kata[1], kata[2]))
        elif heading_of_track := TRACK.fullmatch(heading):
            track = heading_of_track[1]
    return found


def missing_on_page(kata: Kata) -> Iterator[str]:
    """Yield problems with a kata's section on the page of katas, or nothing if the course has no such page."""
    if not (course().root / PAGE).is_file():
        return
    page, track = (course().root / PAGE).read_text("utf-8"), course().tracks[kata.track].title
    headings, text = list_headings(page), find_section(kata)
    own_track, own_title = next(((track, title) for track, name, title in headings if name == kata.name), ("", None))
    if own_title is None:
        heading = f"### {kata.name}: {kata.title}"
        yield f"{PAGE}: add a section `{heading}` under `## {track}`, with a last line such as `Needs: nothing.`"
        return
    if own_title != kata.title:
        yield f"{PAGE}: the section of {kata.name} must begin with `### {kata.name}: {kata.title}`"
    if own_track != track:
        yield f"{PAGE}: the section of {kata.name} belongs under `## {track}`"
    elif place := find_misplacement(kata, [name for under, name, _ in headings if under == track]):
        yield f"{PAGE}: the section of {kata.name} must come {place}, according to `place` in its kata.toml"
    row = f"| `{kata.name}` | {kata.hours:g} | {kata.difficulty} |"
    if kata.after and row not in page.splitlines():
        yield f"{PAGE}: add the line `{row}` under `## {track}`, as in kata.toml"
    if not NEEDS.sub("", text).strip():
        yield f"{PAGE}: the section of {kata.name} must explain the kata"
    needs = NEEDS.findall(text)
    earlier = [*course().katas][: [*course().katas].index(kata.name)]
    needed = re.findall(r"`(\w+)`", needs[-1]) if needs else []
    if not needed and needs != ["nothing."]:
        yield f"{PAGE}: the section of {kata.name} needs a line `Needs: nothing.` or one that names earlier katas"
    if absent := {*kata.builds_on} - {*needed}:
        yield f"{PAGE}: `Needs:` of {kata.name} must name `{min(absent)}`, on which it builds"
    if later := {*needed} - {*earlier}:
        yield f"{PAGE}: `Needs:` of {kata.name} names `{min(later)}`, which does not come before it"


def wrong_questions(kata: Kata) -> Iterator[str]:
    """Yield problems with the questions of `kata predict`: errors, and answers that are not positive numbers."""
    place = relative(course().folder(kata.name) / "questions.py")
    try:
        questions = load_questions(kata.name)
    except CourseError as error:
        yield str(error)
        return
    for name, question in questions.items():
        for values in islice(product(*question.sizes.values()), MAX_DRAWS):
            sizes = dict(zip(question.sizes, values, strict=True))
            try:
                question.text.format(**sizes), question.formula.format(**sizes, right="")
                right = 1.0 if question.measured else float(question.answer(**sizes))
            except Exception as error:
                yield f"{place}: {name} fails for {sizes} ({type(error).__name__}: {error})"
                break
            if not is_positive(right):
                yield f"{place}: the answer to {name} for {sizes} is {right}; it must be a positive number"
                break


def find_misplacement(kata: Kata, on_page: list[str]) -> str:
    """Return where a kata's section should be within its track, or "" if it is in the right place."""
    order = [one for one in course().katas if one in on_page]
    before, after = (names[: names.index(kata.name)] for names in (on_page, order))
    if {*before} & {*order} == {*after}:
        return ""
    return f"after that of {after[-1]}" if after else "first"


def run_tools(katas: Sequence[Kata], *, quick: bool) -> list[str]:
    """Return the messages that ruff and mypy report for the files of these katas."""
    project = tomllib.loads((course().root / "pyproject.toml").read_text("utf-8")).get("tool", {})
    files = [file for kata in katas for file in files_by_path(kata) if file.suffix == ".py"]
    folders = {course().folder(kata.name).relative_to(course().root) for kata in katas}
    beside = [file for file in files if not folders & {*file.parents}]
    paths = {
        "ruff": files,
        "mypy": [*beside, *sorted(folders)],
    }  # in a folder, mypy leaves out what its settings exclude
    lines: list[str] = []
    for tool, calls in TOOLS.items() if files else ():
        if tool in project and find_spec(tool) is not None and not (quick and tool == "mypy"):
            for call in calls:
                command = python("-m", tool, *call, *map(str, paths[tool]))
                done = subprocess.run(command, cwd=course().root, capture_output=True, text=True, check=False)
                lines += list_unformatted(done.stdout) if "format" in call else done.stdout.splitlines()
                if done.returncode and not done.stdout:
                    lines.append(f"pyproject.toml: {tool} {call[0]} fails: {last_line(done.stderr)}")
    return lines


def list_unformatted(text: str) -> list[str]:
    """Return a line for each file that ruff would reformat. Both of ruff's output formats are supported."""
    files = re.findall(r"^(?:Would reformat: |\s*--> )(.+?)(?::\d+:\d+)?$", text, re.MULTILINE)
    return [f"{file}: `ruff format` would change it" for file in dict.fromkeys(files)]


def last_line(text: str) -> str:
    """Return the last line that is not empty."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "it exited without a message")
