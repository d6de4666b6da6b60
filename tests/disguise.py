"""Writes a program differently without changing what it does, so that it cannot be recognized by its text or bytecode.

Local names are replaced, docstrings removed, methods and functions reordered, and assignments without effect added.
"""

import ast
import builtins
import random

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def disguise(source: str, contract: str, chance: random.Random) -> str:
    """Return a program with the same behavior whose local names, order and bytecode differ.

    Args:
        source: The program.
        contract: The name of its class or function, which is kept, as are the parameters of the function and methods.
        chance: The source of randomness, which determines the result.
    """
    tree = ast.parse(source)
    names = sorted(find_local_names(tree, contract))
    fresh = draw_names(len(names), chance, taken={node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    Renaming(dict(zip(names, fresh, strict=True))).visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS[:2])):
            remove_docstring(node)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            node.body = reorder(node.body, chance)
    for node in [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS[:2])]:
        add_assignments(node, chance)
    return ast.unparse(ast.fix_missing_locations(tree))


def find_local_names(tree: ast.Module, contract: str) -> set[str]:
    """Return the names that only the program itself uses, and that can therefore be replaced everywhere in it.

    These are all names that it binds, except those in a class or an import, the parameters of methods and of the
    contract, and names that also occur as a keyword or in a string.
    """
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    kept = {contract, *vars(builtins)}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name):
                bound.add(name)
            case ast.arg(arg=name):
                bound.add(name)
            case ast.keyword(arg=str(name)) | ast.alias(asname=str(name)) | ast.alias(name=name):
                kept.add(name.partition(".")[0])
            case ast.Constant(value=str(text)):
                kept.update(text.split())
            case ast.Global(names=listed) | ast.Nonlocal(names=listed):
                kept.update(listed)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                kept.add(name)
            case ast.ClassDef(body=body, name=name):
                kept.add(name)
                for part in body:
                    kept.update(
                        one.id for one in ast.walk(part) if isinstance(one, ast.Name) and part not in methods(node)
                    )
        if isinstance(node, (ast.Module, ast.ClassDef)):
            public = (
                methods(node) if isinstance(node, ast.ClassDef) else [f for f in methods(node) if f.name == contract]
            )
            kept.update(function.name for function in public)
            kept.update(one.arg for function in public for one in ast.walk(function.args) if isinstance(one, ast.arg))
    return bound - kept


def methods(node: ast.Module | ast.ClassDef) -> list[ast.FunctionDef]:
    """Return the functions directly in a class or module."""
    return [part for part in node.body if isinstance(part, ast.FunctionDef)]


def draw_names(count: int, chance: random.Random, taken: set[str]) -> list[str]:
    """Draw different names that do not occur yet."""
    names: list[str] = []
    while len(names) < count:
        name = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=6))
        if name not in taken and name not in names:
            names.append(name)
    return names


class Renaming(ast.NodeTransformer):
    """Replaces names wherever they occur as a variable, a parameter or the name of a function."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Replace the name of a node and those inside it."""
        for attribute in ("id", "arg", "name"):
            old = getattr(node, attribute, None)
            if isinstance(old, str) and isinstance(node, (ast.Name, ast.arg, ast.FunctionDef)):
                setattr(node, attribute, self.names.get(old, old))
        return super().generic_visit(node)


def remove_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Remove the docstring, which says what the program does."""
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]


def reorder(body: list[ast.stmt], chance: random.Random) -> list[ast.stmt]:
    """Shuffle each sequence of functions that do not need each other when they are defined."""
    result: list[ast.stmt] = []
    run: list[ast.stmt] = []
    for statement in [*body, ast.Pass()]:
        if isinstance(statement, ast.FunctionDef) and is_independent(statement):
            run.append(statement)
            continue
        chance.shuffle(run)
        result += [*run, statement]
        run = []
    return result[:-1]


def is_independent(function: ast.FunctionDef) -> bool:
    """Return whether no decorator or default of a function can refer to a function beside it."""
    decorators = [node for one in function.decorator_list for node in ast.walk(one)]
    is_accessor = any(isinstance(node, ast.Attribute) and node.attr in ("setter", "deleter") for node in decorators)
    defaults = [*function.args.defaults, *(one for one in function.args.kw_defaults if one is not None)]
    return not is_accessor and all(isinstance(default, (ast.Constant, ast.UnaryOp)) for default in defaults)


def add_assignments(function: ast.FunctionDef | ast.AsyncFunctionDef, chance: random.Random) -> None:
    """Insert assignments to new local variables at random places."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for name in draw_names(chance.randint(1, 3), chance, used):
        value = ast.Constant(chance.randrange(2**16))
        place = chance.randrange(len(function.body))  # not at the end, since nothing after a `return` is compiled
        function.body.insert(place, ast.Assign([ast.Name(name, ast.Store())], value))
