"""Resolves names in source code, such as `o.SGD` after `import torch.optim as o`, to fully qualified names."""

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

Found: TypeAlias = tuple[int, str]  # a line and a name or text

Definition: TypeAlias = ast.ClassDef | ast.FunctionDef

FUNCTIONS = (ast.FunctionDef, ast.Lambda)
TAKEN_FROM_MODULES = ("sys.modules.get", "sys.modules.pop", "sys.modules.__getitem__")


def find_repeated(tree: ast.Module) -> Iterator[tuple[Definition, Definition]]:
    """Yield each class or function that a later one in the same place replaces, with that later one.

    Decorated ones, such as the parts of a property, and `_` are left out.
    """
    for parent in ast.walk(tree):
        before: dict[str, list[Definition]] = {}
        for node in parent.body if isinstance(parent, (ast.Module, ast.ClassDef)) else ():
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.decorator_list and node.name != "_":
                yield from ((earlier, node) for earlier in before.get(node.name, ()))
                before.setdefault(node.name, []).append(node)


def find_replaced(tree: ast.Module, line: int) -> int:
    """Return the line of finished code that the definition around another line replaces, or 0."""
    for earlier, later in find_repeated(tree):
        functions = [node for node in ast.walk(earlier) if isinstance(node, ast.FunctionDef)]
        is_finished = not all(computes_nothing(statement) for node in functions for statement in node.body)
        if is_finished and later.lineno <= line <= (later.end_lineno or 0):
            return earlier.lineno
    return 0


def computes_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement may occur in a stub: a docstring, `raise`, `pass` or `super().__init__()`."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or ast.unparse(statement).startswith("super().__init__(")
    return isinstance(statement, (ast.Raise, ast.Pass))


class Names:
    """The names in a file, fully qualified. Scopes are ignored: every import applies to the whole file."""

    def __init__(self, tree: ast.Module) -> None:
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
        self.unused = [*self.find_unused(tree, own)]  # what is imported, but neither used nor defined again
        self.bind_aliases(tree)
        self.uses: list[Found] = []  # of imported names; after a star import, this includes the name in each module
        self.attributes: list[Found] = []  # accessed or set
        self.changes: list[Found] = []  # set or deleted; for a call of `setattr`, the object
        self.subclasses: list[Found] = []  # base classes of classes that define functions
        self.imports: list[Found] = []  # modules, including imports by a call or from `sys.modules`
        self.texts: list[Found] = []  # values of strings
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
                self.add_use(node)
            self.add_node(node)

    def find_unused(self, tree: ast.Module, own: set[str]) -> Iterator[Found]:
        """Yield each name that the file imports from a module only for other files."""
        used = own | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                unused = (alias.name for alias in node.names if (alias.asname or alias.name) not in used)
                yield from ((node.lineno, f"{node.module}.{name}") for name in unused)

    def bind_aliases(self, tree: ast.Module) -> None:
        """Resolve names such as `o` after `o = torch.optim`, if nothing else is assigned to them."""
        stored = Counter(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        modules = {name.partition(".")[0] for name in self.bound.values()}
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() | ast.Name() as value):
                    meant = self.full_name(value)
                    if meant and meant.partition(".")[0] in modules and stored[name] == 1 and name in self.own:
                        self.bound[name] = meant
                        self.own.discard(name)

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

    def add_use(self, node: ast.Name | ast.Attribute | ast.Call) -> None:
        """Record the use of a name."""
        if (name := self.full_name(node)) is not None:
            self.uses.append((node.lineno, name))
            if name.partition(".")[0] not in self.bound:
                self.uses += [(node.lineno, f"{module}.{name}") for module in self.starred]

    def add_node(self, node: ast.AST) -> None:
        """Record imports, attributes, changes, subclasses and strings, which rules search for."""
        match node:
            case ast.Attribute(attr=str(name)):
                self.attributes.append((node.lineno, name))
                if not isinstance(node.ctx, ast.Load) and (changed := self.full_name(node)):
                    self.changes.append((node.lineno, changed))
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                self.attributes.append((node.lineno, name))
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[whole, *_]):
                if changed := self.full_name(whole):
                    self.changes.append((node.lineno, changed))
            case ast.Call(func=called, args=[ast.Constant(value=str(name)), *_]):
                if self.full_name(called) in ("__import__", "importlib.import_module", *TAKEN_FROM_MODULES):
                    self.imports.append((node.lineno, name))
            case ast.Subscript(value=whole, slice=ast.Constant(value=str(name))):
                if self.full_name(whole) == "sys.modules":
                    self.imports.append((node.lineno, name))
            case ast.Import(names=aliases):
                self.imports += [(node.lineno, alias.name) for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0, names=aliases):
                self.imports += [(node.lineno, f"{module}.{alias.name}") for alias in aliases]
            case ast.ClassDef(bases=bases) if any(isinstance(part, FUNCTIONS) for part in ast.walk(node)):
                self.subclasses += [(node.lineno, base_name) for base in bases if (base_name := self.full_name(base))]
            case ast.Constant(value=str(text)):
                self.texts.append((node.lineno, text))
