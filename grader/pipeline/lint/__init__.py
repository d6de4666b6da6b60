"""Searches student code for shortcuts that the instructor should check. It runs no code and affects no points."""

import ast
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from grader.base.text import list_names
from grader.results.result import Finding
from torchkata.course import Kata, cached_by_course, course, handout
from torchkata.inside.source.differences import CALLS, find_uses
from torchkata.inside.source.names import Names

CPU_SECONDS, MEMORY_MIB = 10, 1024  # limits of the process that searches: more than enough for hand-written files
PICKLERS = ("torch.save", "pickle.dump", "pickle.dumps")
STARTS_PROCESSES = "starts or ends processes"
REFUSED = {  # what a finding says about calls that the sandbox refuses
    "processes": STARTS_PROCESSES,
    "event_loop": "uses an event loop, which the sandbox refuses",
    "system_call": "makes a system call that the sandbox refuses",
}
MIN_NODES = 40  # two people are unlikely to write this many identical syntax tree nodes by chance


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern to search for in source code."""

    text: str
    katas: list[str] | None = None  # None for all files
    uses: list[str] = []  # fully qualified names, including all names below them
    changes: list[str] = []  # names in the library that must not be set or deleted,
    settings: list[str] = []  # except these, which are intended to be set
    imports: list[str] = []  # names of modules
    attributes: list[str] = []  # attribute names of any object
    subclasses: list[str] = []  # base classes of classes that define functions
    paths: list[str] = []  # strings that are equal to these paths or below them

    def applies_to(self, module: str) -> bool:
        """Return whether the rule applies to a file, which is either a kata's own file or a helper."""
        return self.katas is None or module in self.katas or module not in course().katas


@cached_by_course
def load_rules() -> list[Rule]:
    """Load the rules of the engine, which apply to all files, and those of the course, which apply to some katas."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))
    table["rule"] += [{"text": text, "uses": list(CALLS[key])} for key, text in REFUSED.items()]
    for name, rule in course().lint.items():
        table["rule"].append({**rule, "katas": [kata.name for kata in course().katas.values() if name in kata.lint]})
    return msgspec.convert(table["rule"], list[Rule])


def find_missing_rules(katas: Sequence[Kata]) -> str:
    """Return a line if katas list rules that the course does not define, or "". A handout defines none on purpose."""
    if (course().root / handout.LIST).is_file():
        return ""
    missing = {kata.name: {*kata.lint} - course().lint.keys() for kata in katas}
    names = [kata for kata, rules in missing.items() if rules]
    rules = ", ".join(sorted(set().union(*missing.values())))
    path = course().reference / "lint.toml"
    return f"{path} does not define {rules}: shortcuts in {list_names(names)} are not reported" if names else ""


def lint_file(file: str, source: bytes) -> list[Finding]:
    """Return the findings in a file, each with the first line on which it occurs.

    If the file can't be parsed, this is its only finding.
    """
    first: dict[str, Finding] = {}
    module = file.removesuffix(".py")
    try:
        for line, text in find_matches(module, ast.parse(source)):
            if text not in first or line < first[text].line:
                first[text] = Finding(module, line, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Finding(module, getattr(error, "lineno", None) or 1, f"{type(error).__name__}: could not be parsed")]
    return sorted(first.values(), key=lambda finding: (finding.line, finding.text))


def report_skipped(files: Collection[str], searched: Collection[str]) -> list[Finding]:
    """Return a finding for each file that was not searched."""
    text = f"not searched: this would take more than {CPU_SECONDS} seconds, or too much memory"
    return [Finding(file.removesuffix(".py"), 1, text) for file in files if file not in searched]


@cached_by_course
def load_oracle_bodies() -> dict[str, str]:
    """Return the names of the oracles' functions, keyed by their bodies. A student could copy these functions."""
    found = {}
    for kata in course().katas:
        path = course().folder(kata) / "oracle.py"
        for node in ast.walk(ast.parse(path.read_bytes())) if path.is_file() else ():
            if isinstance(node, ast.FunctionDef) and (body := dump_body(node.body)):
                found[body] = f"reference.{kata}.oracle.{node.name}"
    return found


def dump_body(body: Sequence[ast.stmt]) -> str:
    """Return a dump of a function's body without its docstring, or "" if it is too short to identify its origin."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            body = rest
    tree = ast.Module([*body], [])
    return ast.dump(tree) if sum(1 for _ in ast.walk(tree)) >= MIN_NODES else ""


def find_matches(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of each match of a rule."""
    names = Names(tree)
    used_names = names.uses + names.unused
    for rule in (rule for rule in load_rules() if rule.applies_to(module)):
        changed = [one for one in names.changes if not any(is_within(one[1], own) for own in rule.settings)]
        found = [
            *((line, name) for name in rule.uses for line, used in used_names if is_within(used, name)),
            *((line, name) for whole in rule.changes for line, name in changed if is_within(name, whole)),
            *(
                (line, f"import {name}")
                for name in rule.imports
                for line, taken in names.imports
                if is_within(taken, name)
            ),
            *((line, name) for line, name in names.attributes if name in rule.attributes),
            *((line, base) for line, base in names.subclasses if base in rule.subclasses),
            *((line, path) for path in rule.paths for line, text in names.texts if f"{text}/".startswith(f"{path}/")),
        ]
        yield from ((line, f"{what}: {rule.text}") for line, what in found)
    yield from ((use.line, f"{use.call}: {STARTS_PROCESSES}") for use in find_uses(tree) if use.key == "loader")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            if name := load_oracle_bodies().get(dump_body(node.body)):
                yield node.lineno, f"{name}: a copy of the oracle, which computes the expected results"
            parameters = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args)}
            for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
                saver = names.full_name(call.func)
                whole = parameters & {"model", "optimizer"} & set(find_variables(call.args[0])) if call.args else set()
                if saver in PICKLERS and whole:
                    yield call.lineno, f"{saver}: saves the whole {' and '.join(sorted(whole))} instead of the state"


def is_within(name: str, whole: str) -> bool:
    """Return whether a dotted name is equal to another or nested in it."""
    return name == whole or name.startswith(f"{whole}.")


def find_variables(value: ast.expr) -> Iterator[str]:
    """Yield the variables in a value, either directly or inside dicts, lists and tuples."""
    match value:
        case ast.Name(id=name):
            yield name
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from find_variables(part)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            for keyword in keywords:
                yield from find_variables(keyword.value)
