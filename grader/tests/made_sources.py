"""A class's code made from the zoo: authors with habits of their own, and copies that hide where they come from."""

import ast
import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.proof import zoo
from torchkata.course import Kata

HABITS = ("augmented", "named_result", "inverted", "flipped", "hoisted", "called", "listed", "checked")
FUNCTION_OF: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


@dataclass(frozen=True)
class MadeClass:
    """The sources of each submission, by file name, and who has copied from whom."""

    files: dict[str, dict[str, bytes]]
    copies: list[tuple[str, str]]


def made_class(katas: Sequence[Kata], count: int, copies: int, seed: int = 0) -> MadeClass:
    """So many authors, each of whom has written all katas; some then hand in what another has written, disguised."""
    chance = random.Random(seed)
    entries = {kata.name: [zoo.solution(kata), *(one.source for one in zoo_of(kata))] for kata in katas}
    names = [f"student{number:04}" for number in range(count)]
    chance.shuffle(names)
    files = {name: author(entries, chance) for name in names}
    pairs = [(names[2 * place], names[2 * place + 1]) for place in range(copies)]
    for source, copy in pairs:
        files[copy] = {file: disguised(code.decode(), chance) for file, code in files[source].items()}
    return MadeClass(dict(sorted(files.items())), [(min(pair), max(pair)) for pair in pairs])


def zoo_of(kata: Kata) -> list[zoo.ZooEntry]:
    """Its right and wrong implementations that are Python."""
    return [one for one in (*zoo.right(kata), *zoo.wrong(kata)) if is_python(one.source)]


def is_python(source: str) -> bool:
    """Whether it can be parsed."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def author(entries: Mapping[str, Sequence[str]], chance: random.Random) -> dict[str, bytes]:
    """The katas of somebody, who has habits."""
    habits = {habit: 0.5 * chance.random() ** 2 for habit in HABITS}
    return {
        f"{kata}.py": ast.unparse(Author(habits, chance).rewritten(chance.choice(sources))).encode()
        for kata, sources in entries.items()
    }


class Author(ast.NodeTransformer):
    """Writes the same in another way, here and there. It need not run."""

    def __init__(self, habits: Mapping[str, float], chance: random.Random) -> None:
        self.habits = habits
        self.chance = chance
        self.hoisted: list[ast.stmt] = []

    def rewritten(self, source: str) -> ast.Module:
        """A whole module."""
        tree = ast.parse(source)
        return ast.fix_missing_locations(ast.Module([self.visit(one) for one in tree.body], []))

    def does(self, habit: str) -> bool:
        """Whether the author does so here."""
        return self.chance.random() < self.habits[habit]

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, with those before each that its parts were moved to."""
        found: list[ast.stmt] = []
        for one in body:
            outer, self.hoisted = self.hoisted, []
            new = self.visit(one)
            found += [*self.hoisted, *(new if isinstance(new, list) else [new])]
            self.hoisted = outer
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Blocks as blocks, all else as it comes; no part of a lambda or a comprehension is moved out of it."""
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Perhaps looks at an argument first."""
        self.generic_visit(node)
        if node.args.args and self.does("checked"):
            name = self.chance.choice(node.args.args).arg
            node.body.insert(0, ast.parse(f"assert {name} is not None").body[0])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`x += y` as `x = x + y`."""
        self.generic_visit(node)
        if not self.does("augmented"):
            return node
        before = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], ast.BinOp(before, node.op, node.value))

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        """`return y` as `result = y; return result`."""
        self.generic_visit(node)
        if node.value is None or not self.does("named_result"):
            return node
        return [assigned("result", node.value), ast.Return(ast.Name("result", ast.Load()))]

    def visit_If(self, node: ast.If) -> ast.AST:
        """Branches the other way round."""
        self.generic_visit(node)
        if self.does("inverted"):
            body = node.orelse or [ast.Pass()]
            return ast.If(ast.UnaryOp(ast.Not(), node.test), body, node.body)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a < b` as `b > a`."""
        self.generic_visit(node)
        (operator, *more), (right, *_) = node.ops, node.comparators
        if not more and type(operator) in OPPOSITE and self.does("flipped"):
            return ast.Compare(right, [OPPOSITE[type(operator)]()], [node.left])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a + b` as `torch.add(a, b)`."""
        self.generic_visit(node)
        if type(node.op) in FUNCTION_OF and self.does("called"):
            function = ast.Attribute(ast.Name("torch", ast.Load()), FUNCTION_OF[type(node.op)], ast.Load())
            return ast.Call(function, [node.left, node.right], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """An argument under a name of its own, in a line before."""
        self.generic_visit(node)
        places = [place for place, one in enumerate(node.args) if isinstance(one, ast.Call | ast.BinOp)]
        if places and self.does("hoisted"):
            name = f"part{len(self.hoisted)}"
            self.hoisted.append(assigned(name, node.args[places[0]]))
            node.args[places[0]] = ast.Name(name, ast.Load())
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """`[…]` as `list(…)`."""
        self.generic_visit(node)
        if self.does("listed"):
            return ast.Call(ast.Name("list", ast.Load()), [ast.GeneratorExp(node.elt, node.generators)], [])
        return node


def assigned(name: str, value: ast.expr) -> ast.Assign:
    """`name = value`."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def disguised(source: str, chance: random.Random) -> bytes:
    """The same under other names, in another order, without comments and docstrings, and laid out in another way."""
    tree = Renamed(ast.parse(source), chance).tree
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.ClassDef):
            functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            others = [one for one in node.body if not isinstance(one, ast.FunctionDef)]
            node.body = [*others, *chance.sample(functions, len(functions))]
    heads = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    rest = [one for one in tree.body if not isinstance(one, ast.Import | ast.ImportFrom)]
    tree.body = [*chance.sample(heads, len(heads)), *chance.sample(rest, len(rest))]
    lines = (
        ast.unparse(ast.fix_missing_locations(tree))
        .replace("    ", chance.choice(("  ", "\t", "        ")))
        .splitlines()
    )
    return "\n".join(one for line in lines for one in ([line, ""] if chance.random() < 0.2 else [line])).encode()


class Renamed(ast.NodeTransformer):
    """Every name that a function binds is another one; what is called from outside keeps its own."""

    def __init__(self, tree: ast.Module, chance: random.Random) -> None:
        kept = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self.names = {name: f"{chance.choice('abcdefgh')}{number}" for number, name in enumerate(sorted(bound - kept))}
        self.tree: ast.Module = self.visit(tree)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Its other name."""
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def hand_in(made: MadeClass, folder: Path) -> list[Path]:
    """Write a class, a directory for each."""
    for name, files in made.files.items():
        (folder / name).mkdir(parents=True)
        for file, source in files.items():
            (folder / name / file).write_bytes(source)
    return [folder / name for name in made.files]


def pairs_of(table: Path) -> list[tuple[str, str]]:
    """The pairs in a `similar.csv`, in order."""
    return [(row["first"], row["second"]) for row in csv.DictReader(table.read_text("utf-8").splitlines())]
