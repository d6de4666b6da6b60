"""A source as runs of tokens: the same under other names, comments, layout, imports and another order of functions.

A token is a node of the syntax tree: names that the source itself binds are all one token, and so are its texts; what
comes from elsewhere keeps its full name, however it was imported. No run crosses the border of a function.
"""

import ast
from collections.abc import Iterator
from typing import TypeAlias

from grader.pipeline.lint.names import Names
from torchkata.handin import parsed

LENGTH = 12  # tokens of a run: about a statement

Gram: TypeAlias = tuple[str, ...]
Token: TypeAlias = tuple[str, int]  # and its line

LEFT_OUT = ("annotation", "returns", "type_comment", "type_params", "ctx", "decorator_list")
IMPORTS = (ast.Import, ast.ImportFrom)
BORDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def grams_of(source: bytes) -> dict[Gram, set[int]]:
    """The runs of a source, each with the lines that it is on, wherever it stands.

    Raises SyntaxError; ValueError for what is no text; RecursionError and MemoryError for what is nested too deep.
    """
    tree = parsed(source)
    found: dict[Gram, set[int]] = {}
    for tokens in Tokens(tree).parts():
        for start in range(max(1, len(tokens) - LENGTH + 1)):
            run = tokens[start : start + LENGTH]
            found.setdefault(tuple([token for token, _ in run]), set()).update([line for _, line in run])
    return found


class Tokens:
    """The tokens of a tree, a list for each function and each statement outside of all."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names = Names(tree)
        self.attributes = {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }

    def parts(self) -> list[list[Token]]:
        """All of them."""
        found: list[list[Token]] = []
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            whole = waiting.pop()
            for number, node in enumerate(inside(whole)):
                if number == 0 or isinstance(whole, (ast.Module, ast.ClassDef)):
                    found.append([])
                self.collect(node, getattr(whole, "lineno", 1), found[-1], waiting)
        return [tokens for tokens in found if tokens]

    def collect(self, node: ast.AST, line: int, found: list[Token], waiting: list[ast.AST]) -> None:
        """The tokens of a node, from left to right; functions and classes in it have to wait."""
        if isinstance(node, BORDERS):
            waiting.append(node)
        elif not isinstance(node, IMPORTS) and not is_remark(node):
            line = getattr(node, "lineno", line)
            token, whole = self.token(node)
            found.append((token, line))
            if not whole:
                for inner in inside(node):
                    self.collect(inner, line, found, waiting)

    def token(self, node: ast.AST) -> tuple[str, bool]:
        """What stands for a node, and whether that is all of it."""
        match node:
            case ast.Name() | ast.Attribute() if full := self.imported(node):
                return full, True
            case ast.Name(id=name):
                return "name" if name in self.names.own else name, True
            case ast.Attribute(attr=name):
                return ".own" if name in self.attributes else f".{name}", False
            case ast.Constant(value=str() | bytes()):
                return "text", True
            case ast.Constant(value=value):
                return repr(value), True
            case ast.keyword(arg=str(name)):
                return f"{name}=", False
            case ast.AnnAssign():
                return "Assign", False
        return type(node).__name__, False

    def imported(self, node: ast.expr) -> str | None:
        """The full name of what was imported."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        known = isinstance(root, ast.Name) and root.id in self.names.bound
        return self.names.full_name(node) if known else None


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """What a node consists of, without what says nothing of how it works."""
    for name, value in ast.iter_fields(node):
        if name not in LEFT_OUT:
            if isinstance(value, ast.AST):
                yield value
            elif isinstance(value, list):
                yield from (one for one in value if isinstance(one, ast.AST))


def is_remark(node: ast.AST) -> bool:
    """Whether it is a statement that does nothing: a docstring, `...` or `pass`."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
