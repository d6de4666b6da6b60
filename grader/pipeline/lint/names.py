"""The full names that a source uses, whatever it calls them: `o.SGD` after `import torch.optim as o`."""

import ast
from collections.abc import Iterator

OWN_WORK = (ast.FunctionDef, ast.Lambda)
TAKEN_FROM_MODULES = ("sys.modules.get", "sys.modules.pop", "sys.modules.__getitem__")


class Names:
    """What the imports of a file make of its names. Where a name is bound does not matter: any import counts."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.bound: dict[str, str] = {}
        self.starred: list[str] = []  # modules of which all names were imported
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
        """The name that an expression stands for, if it is one."""
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
        """Every full name, and the line it stands on; names that a star may have brought under each possible name."""
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and (name := self.full_name(node)) is not None:
                yield node.lineno, name
                if name.partition(".")[0] not in self.bound:
                    yield from ((node.lineno, f"{module}.{name}") for module in self.starred)

    def attributes(self) -> Iterator[tuple[int, str]]:
        """Every attribute that is read or set, whatever of."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(attr=str(name)):
                    yield node.lineno, name
                case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                    yield node.lineno, name

    def changes(self) -> Iterator[tuple[int, str]]:
        """Every full name that is set or deleted; what it belongs to, where that is done by `setattr`."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(ctx=ast.Store() | ast.Del()) if name := self.full_name(node):
                    yield node.lineno, name
                case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[whole, *_]):
                    if name := self.full_name(whole):
                        yield node.lineno, name

    def subclasses(self) -> Iterator[tuple[int, str]]:
        """Every full name that a class with functions of its own is based on."""
        for node in ast.walk(self.tree):
            match node:
                case ast.ClassDef(bases=bases) if any(isinstance(part, OWN_WORK) for part in ast.walk(node)):
                    yield from ((node.lineno, name) for base in bases if (name := self.full_name(base)))

    def texts(self) -> Iterator[tuple[int, str]]:
        """Every text that stands in the source."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Constant(value=str(text)):
                    yield node.lineno, text

    def imports(self) -> Iterator[tuple[int, str]]:
        """Every module that is imported by a statement or by a call with its name, or taken from `sys.modules`."""
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
