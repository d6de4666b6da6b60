"""Resolves names in source code, such as `o.SGD` after `import torch.optim as o`, to fully qualified names."""

import ast
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.Lambda)
TAKEN_FROM_MODULES = ("sys.modules.get", "sys.modules.pop", "sys.modules.__getitem__")


class Names:
    """The fully qualified names imported in a file. Scopes are ignored: every import applies to the whole file."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.bound: dict[str, str] = {}
        self.starred: list[str] = []  # modules imported with *
        own: set[str] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=aliases):
                    for alias in aliases:
                        top = alias.name.partition(".")[0]
                        self.bound[alias.asname or top] = alias.name if alias.asname else top
                case ast.ImportFrom(module=str(module), names=aliases, level=0):
                    self.starred += [module for alias in aliases if alias.name == "*"]
                    self.bound |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in aliases}
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                    own.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    own.add(name)
        self.own = own - self.bound.keys()

    def full_name(self, node: ast.expr) -> str | None:
        """Return the fully qualified name that an expression refers to, or None if it is not a name."""
        parts: list[str] = []
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=node, attr=attribute):
                    parts.append(attribute)
                case ast.Call(func=ast.Name(id="getattr"), args=[node, ast.Constant(value=str(attribute)), *_]):
                    parts.append(attribute)
                case _:
                    return None
        start = self.bound.get(node.id, node.id)
        return None if node.id in self.own else ".".join([start, *reversed(parts)]).removeprefix("builtins.")

    def uses(self) -> Iterator[tuple[int, str]]:
        """Yield the line and full name of every use of an imported name.

        After a star import, this includes the name in each starred module.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and (name := self.full_name(node)) is not None:
                yield node.lineno, name
                if name.partition(".")[0] not in self.bound:
                    yield from ((node.lineno, f"{module}.{name}") for module in self.starred)

    def attributes(self) -> Iterator[tuple[int, str]]:
        """Yield the line and name of every attribute that is accessed or set."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(attr=str(name)):
                    yield node.lineno, name
                case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                    yield node.lineno, name

    def changes(self) -> Iterator[tuple[int, str]]:
        """Yield the line and full name of everything that is set or deleted.

        For a call of `setattr`, yield the name of the object.
        """
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(ctx=ast.Store() | ast.Del()) if name := self.full_name(node):
                    yield node.lineno, name
                case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[whole, *_]):
                    if name := self.full_name(whole):
                        yield node.lineno, name

    def subclasses(self) -> Iterator[tuple[int, str]]:
        """Yield the line and full name of each base class of a class that defines functions."""
        for node in ast.walk(self.tree):
            match node:
                case ast.ClassDef(bases=bases) if any(isinstance(part, FUNCTIONS) for part in ast.walk(node)):
                    yield from ((node.lineno, name) for base in bases if (name := self.full_name(base)))

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield the line and value of every string."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Constant(value=str(text)):
                    yield node.lineno, text

    def imports(self) -> Iterator[tuple[int, str]]:
        """Yield the line and name of every imported module, including imports by a call or from `sys.modules`."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=aliases):
                    yield from ((node.lineno, alias.name) for alias in aliases)
                case ast.ImportFrom(module=str(module), level=0, names=aliases):
                    yield from ((node.lineno, f"{module}.{alias.name}") for alias in aliases)
                case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]):
                    if self.full_name(called) in ("__import__", "importlib.import_module", *TAKEN_FROM_MODULES):
                        yield node.lineno, name
                case ast.Subscript(value=whole, slice=ast.Constant(value=str(name))):
                    if self.full_name(whole) == "sys.modules":
                        yield node.lineno, name
