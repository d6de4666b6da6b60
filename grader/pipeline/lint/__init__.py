"""Looks through a student's source for shortcuts: for the instructor to judge, never for points. Nothing is run."""

import ast
import math
import resource
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from grader.pipeline.lint.names import Names
from grader.results.result import Finding
from grader.sandbox.confine import measure_address_space
from torchkata.course import cached_by_course, course

CPU_SECONDS, MEMORY = 10, 2**30  # more than any source takes that was typed by hand
PICKLERS = ("torch.save", "pickle.dump", "pickle.dumps")
TELLING = 40  # nodes of a syntax tree: hardly anybody writes as many exactly as somebody else did


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is searched for in a source."""

    text: str
    katas: list[str] | None = None  # None: every file
    uses: list[str] = []  # full names, and all below them
    changes: list[str] = []  # the same, set or deleted where they belong …
    settings: list[str] = []  # … but for these, which are there to be set
    imports: list[str] = []  # modules
    attributes: list[str] = []  # of anything
    subclasses: list[str] = []  # of these, with functions of their own
    paths: list[str] = []  # texts that name these places, or one below

    def holds_for(self, module: str) -> bool:
        """Whether a file of this name is to be looked at: a kata's own, or a helper's, whatever kata it helps."""
        return self.katas is None or module in self.katas or module not in course().katas


@cached_by_course
def rules() -> list[Rule]:
    """The engine's, for every file, and those of the course, for the katas that name them."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
    for name, rule in course().lint.items():
        table["rule"].append({**rule, "katas": [kata.name for kata in course().katas.values() if name in kata.lint]})
    return msgspec.convert(table["rule"], list[Rule])


def limit_this_process() -> None:
    """From now on, let this process take no more than reading a source may take."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(used.ru_utime + used.ru_stime) + CPU_SECONDS
    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, measure_address_space() + MEMORY)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def lint(files: Mapping[str, bytes]) -> list[Finding]:
    """What is found in all files."""
    return list(chain.from_iterable(findings_of(file, source) for file, source in files.items()))


def findings_of(file: str, source: bytes) -> list[Finding]:
    """What is found in a file, each once, at its first line; that it can't be looked through is a finding, too."""
    first: dict[str, Finding] = {}
    module = file.removesuffix(".py")
    try:
        for line, text in found_in(module, ast.parse(source)):
            if text not in first or line < first[text].line:
                first[text] = Finding(module, line, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Finding(module, 1, f"{type(error).__name__}: it can't be looked through")]
    return sorted(first.values(), key=lambda finding: (finding.line, finding.text))


def unread(files: Collection[str], looked_through: Collection[str]) -> list[Finding]:
    """What is to be said of files whose turn never came."""
    text = f"it was not looked through: that took more than {CPU_SECONDS} seconds, or too much memory"
    return [Finding(file.removesuffix(".py"), 1, text) for file in files if file not in looked_through]


@cached_by_course
def oracle_bodies() -> dict[str, str]:
    """The bodies of the course's own oracle, which students have, and the names of their functions."""
    found = {}
    for kata in course().katas:
        path = course().folder(kata) / "oracle.py"
        for node in ast.walk(ast.parse(path.read_bytes())) if path.is_file() else ():
            if isinstance(node, ast.FunctionDef) and (body := telling(node.body)):
                found[body] = f"reference.{kata}.oracle.{node.name}"
    return found


def telling(body: Sequence[ast.stmt]) -> str:
    """A function's statements, without its docstring; "" where there are too few to tell where they come from."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            body = rest
    tree = ast.Module([*body], [])
    return ast.dump(tree) if sum(1 for _ in ast.walk(tree)) >= TELLING else ""


def found_in(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """A line and a text for everything that a rule is about."""
    names = Names(tree)
    uses, changes, imports = list(names.uses()), list(names.changes()), list(names.imports())
    attributes, subclasses, texts = list(names.attributes()), list(names.subclasses()), list(names.texts())
    for rule in (rule for rule in rules() if rule.holds_for(module)):
        changed = [(line, name) for line, name in changes if not any(is_within(name, own) for own in rule.settings)]
        found = [
            *((line, name) for name in rule.uses for line, used in uses if is_within(used, name)),
            *((line, name) for whole in rule.changes for line, name in changed if is_within(name, whole)),
            *((line, f"import {name}") for name in rule.imports for line, taken in imports if is_within(taken, name)),
            *((line, name) for line, name in attributes if name in rule.attributes),
            *((line, base) for line, base in subclasses if base in rule.subclasses),
            *((line, path) for path in rule.paths for line, text in texts if f"{text}/".startswith(f"{path}/")),
        ]
        yield from ((line, f"{what}: {rule.text}") for line, what in found)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if name := oracle_bodies().get(telling(node.body)):
                yield node.lineno, f"{name}: it is a copy of what the tests compare with"
            parameters = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args)}
            for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
                saver = names.full_name(call.func)
                whole = parameters & {"model", "optimizer"} & set(parts_of(call.args[0])) if call.args else set()
                if saver in PICKLERS and whole:
                    yield call.lineno, f"{saver}: it saves the whole {' and '.join(sorted(whole))}, not the state"


def is_within(name: str, whole: str) -> bool:
    """Whether a dotted name is another one, or below it."""
    return name == whole or name.startswith(f"{whole}.")


def parts_of(value: ast.expr) -> Iterator[str]:
    """The variables that are themselves in a value, as it stands or in dicts, lists and tuples."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from parts_of(part)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            for keyword in keywords:
                yield from parts_of(keyword.value)
