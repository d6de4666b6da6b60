"""What works at a student's desk but not in the grader: which calls, how they fail there, and what Python then says.

The grader runs student code in a sandbox without other processes, network, user name and compiler. Crash notes, the
checks at home and the findings for instructors all use the tables of this module.
"""

import ast
import errno
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import FrameType

from torchkata.inside.source.names import Names
from torchkata.inside.text import Text

CALLS: Mapping[str, Sequence[str]] = {  # functions that the sandbox refuses or ignores, keyed by the difference
    "processes": (
        *(f"os.{name}" for name in ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp")),
        *(f"os.exec{ending}" for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"os.spawn{ending}" for ending in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
        *(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")),
        *("subprocess.getoutput", "subprocess.getstatusoutput", "pty.fork", "pty.spawn"),
        *(f"multiprocessing.{name}" for name in ("Process", "Pool", "Manager", "Pipe", "Queue", "SimpleQueue")),
        *(f"multiprocessing.{name}" for name in ("JoinableQueue", "Lock", "RLock", "Semaphore", "BoundedSemaphore")),
        *(f"multiprocessing.{name}" for name in ("Condition", "Event", "Barrier", "Value", "Array")),
        *(f"torch.multiprocessing.{name}" for name in ("spawn", "Process", "Pool", "Queue", "Lock", "Event")),
        *("concurrent.futures.ProcessPoolExecutor", "concurrent.futures.process.ProcessPoolExecutor"),
    ),
    "event_loop": ("asyncio.run", "asyncio.Runner", "asyncio.new_event_loop", "asyncio.get_event_loop"),
    "network": (
        *(f"socket.{name}" for name in ("socket", "socketpair", "create_connection", "create_server")),
        *("socket.gethostbyname", "socket.getaddrinfo", "urllib.request.urlopen", "urllib.request.urlretrieve"),
        *(f"requests.{name}" for name in ("get", "post", "put", "head", "request", "Session")),
        *("torch.hub.load", "torch.hub.load_state_dict_from_url", "torch.hub.download_url_to_file"),
        "torch.distributed.init_process_group",
    ),
    "user_name": ("getpass.getuser", "os.getlogin", "pwd.getpwuid", "pwd.getpwnam"),
    "system_call": (
        *("os.pipe", "os.pipe2", "os.mkfifo", "os.statvfs", "shutil.disk_usage", "resource.getrusage"),
        *("fcntl.flock", "fcntl.lockf"),
    ),
    "compiler": ("torch.compile",),
    "notebook": ("get_ipython",),
    "debugger": ("breakpoint", "pdb.set_trace", "ipdb.set_trace"),
    "at_import": ("input", "exit", "quit", "sys.exit", "matplotlib.pyplot.show"),  # only if they run at import
    "setting": ("torch.set_default_dtype", "torch.set_default_device", "torch.set_default_tensor_type"),  # the same
}
DIFFERENCES: Mapping[str, Text] = {
    "processes": Text(
        "the grader runs code without other processes (threads are allowed): do the work in this process"
    ),
    "loader": Text("the grader runs code without other processes: use num_workers=0"),
    "event_loop": Text("the grader runs code without event loops: call ordinary functions instead of asyncio"),
    "network": Text("the grader runs code without a network: use only what your function is given"),
    "user_name": Text("the grader runs code without a user name: leave it out"),
    "variable": Text("the grader sets hardly any environment variables: use os.environ.get() with a default value"),
    "system_call": Text("the grader's sandbox refuses this system call"),
    "compiler": Text(
        "the grader has no compiler: its tests run the code without torch.compile, and its speed measurements fail"
    ),
    "notebook": Text("get_ipython() exists only in a notebook: remove the call"),
    "debugger": Text("a debugger waits for a person, and nobody is there when your code is graded: remove it"),
    "at_import": Text('this runs when the file is imported: put it under `if __name__ == "__main__":`'),
    "setting": Text("this changes a setting for all code, including the tests: remove it"),
}
KEYS = {call: key for key, calls in CALLS.items() for call in calls}
ONLY_AT_IMPORT = ("at_import", "setting")
SETTINGS = ("torch.set_default_dtype", "torch.set_default_device", "torch.set_grad_enabled")
UNCHANGED = ("torch.float32", "torch.float", "torch.FloatTensor", "'cpu'", "None")  # arguments that keep the default
LOADERS = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME")
RAISED_IN = {  # modules in whose code a refused system call raises an exception, the most specific first
    "torch.utils.data": "loader",
    "asyncio": "event_loop",
    "subprocess": "processes",
    "multiprocessing": "processes",
    "concurrent.futures.process": "processes",
    "socket": "network",
    "http": "network",
    "urllib": "network",
}
NEVER_TRUE = ("__name__", "TYPE_CHECKING", "version_info")  # in the tests, or perhaps with another Python
ENVIRONMENT = "os.environ"
PACKAGE = "assignment"  # the folder of students' files
NOT_A_TERMINAL = (errno.ENOTTY, errno.ENXIO, errno.ENOENT)  # errors of `os.getlogin` without a terminal


@dataclass(frozen=True)
class Use:
    """A call in a file that behaves differently in the grader."""

    line: int
    last_line: int
    call: str
    key: str


def find_differences(tree: ast.Module) -> list[Use]:
    """Return the first use of each call that behaves differently in the grader, and of calls that run at import.

    Code that handles an exception, or runs only as a script, is ignored.
    """
    first: dict[str, Use] = {}
    nodes = [*walk_unguarded(tree)]
    at_import = find_uses(tree, (node for node, in_function in nodes if not in_function))
    anywhere = (use for use in find_uses(tree, (node for node, _ in nodes)) if use.key not in ONLY_AT_IMPORT)
    for use in sorted(chain(anywhere, at_import), key=lambda use: use.line):
        first.setdefault(use.call, use)
    return [*first.values()]


def find_uses(tree: ast.Module, nodes: Iterable[ast.AST] | None = None) -> Iterator[Use]:
    """Yield the calls, decorators and variables that behave differently in the grader, or those among these nodes."""
    names = Names(tree)
    stored = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.slice, ast.Constant)
    }
    for node in ast.walk(tree) if nodes is None else nodes:
        match node:
            case ast.Call(func=called, args=given, keywords=keywords):
                name = names.full_name(called)
                if name in KEYS and not (
                    KEYS[name] == "setting" and any(ast.unparse(one) in UNCHANGED for one in given)
                ):
                    yield make_use(node, name, KEYS[name])
                elif name in LOADERS and any(starts_workers(keyword) for keyword in keywords):
                    yield make_use(node, "DataLoader", "loader")
                elif isinstance(called, ast.Attribute) and called.attr == "parse_args" and not (given or keywords):
                    yield make_use(node, "parse_args", "at_import")
            case ast.FunctionDef(decorator_list=decorators):
                for decorator in decorators:
                    name = names.full_name(decorator)
                    if name in KEYS:
                        yield make_use(decorator, name, KEYS[name])
            case ast.Subscript(value=whole, slice=ast.Constant(value=str(key)), ctx=ast.Load()):
                if names.full_name(whole) == ENVIRONMENT and key in USER_VARIABLES and key not in stored:
                    yield make_use(node, f'os.environ["{key}"]', "user_name")


def make_use(node: ast.expr, call: str, key: str) -> Use:
    """Return the use of a call at the place of a node."""
    return Use(node.lineno, node.end_lineno or node.lineno, call, key)


def starts_workers(keyword: ast.keyword) -> bool:
    """Return whether an argument of a DataLoader certainly makes it start processes."""
    value = keyword.value
    number = value.value if isinstance(value, ast.Constant) else 0
    return keyword.arg == "num_workers" and isinstance(number, int) and number > 0


def walk_unguarded(tree: ast.Module, fails: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes of a module, each with whether it is in a function and thus does not run at import.

    Code that is protected against its failure (`try`, `suppress`) or does not run in the tests is left out. Handlers of
    a `try` that imports modules do not run if the import of none of them `fails`.
    """
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, in_function = left.pop()
        yield node, in_function
        inside: Iterable[ast.AST] = ast.iter_child_nodes(node)
        match node:
            case ast.Try(handlers=[_, *_]) | ast.TryStar():
                imported = [module for part in node.body for module in name_imports(part)]
                handlers = node.handlers if not imported or any(map(fails, imported)) else []
                inside = [*handlers, *node.orelse, *node.finalbody]
            case ast.With(items=items) if any("suppress" in ast.dump(item.context_expr) for item in items):
                inside = []
            case ast.If(test=test) if any(f"'{name}'" in ast.dump(test) for name in NEVER_TRUE):
                inside = node.orelse
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                left += [(part, in_function) for part in (*node.decorator_list, node.args)]
                inside, in_function = node.body, True
            case ast.Lambda():
                in_function = True
        left += [(part, in_function) for part in inside]


def find_imports(tree: ast.Module, fails: Callable[[str], bool]) -> dict[str, int]:
    """Return the modules that are imported without protection (see `name_imports`), each with its first line."""
    found = [
        (node.lineno, module)
        for node, _ in walk_unguarded(tree, fails)
        if isinstance(node, ast.stmt)
        for module in name_imports(node)
    ]
    return {module: line for line, module in sorted(found, reverse=True)}


def name_imports(statement: ast.stmt) -> list[str]:
    """Return the top-level modules that a statement imports. Those of the same folder begin with a dot."""
    modules: list[str] = []
    match statement:
        case ast.Import(names=aliases):
            modules = [alias.name for alias in aliases if alias.name != PACKAGE]
        case ast.ImportFrom(None, aliases, 1) | ast.ImportFrom("assignment", aliases, 0):
            modules = [f".{alias.name}" for alias in aliases]
        case ast.ImportFrom(module=str(module), level=0 | 1):
            modules = ["." * statement.level + module]
    relative = [f".{module[len(PACKAGE) + 1 :]}" if module.startswith(f"{PACKAGE}.") else module for module in modules]
    return [module[:1] + module[1:].partition(".")[0] for module in relative]


def name_refused(error: BaseException, below: Sequence[FrameType], line: int, tree: ast.Module) -> str:
    """Return the module or function that the sandbox has certainly refused to serve, or "".

    Args:
        error: The exception.
        below: The frames of libraries that a line of the student's code has called, outermost first.
        line: This line.
        tree: The student's file.
    """
    modules = [str(frame.f_globals.get("__name__", "")) for frame in below]
    if isinstance(error, KeyError):
        return ENVIRONMENT if modules[-1:] == ["os"] and below[-1].f_code.co_name == "__getitem__" else ""
    if not isinstance(error, OSError):
        return ""
    network = sys.modules.get("socket")
    if network and isinstance(getattr(error, "reason", error), network.gaierror):
        return "socket"
    inside = [name for name in RAISED_IN if any(f"{module}.".startswith(f"{name}.") for module in modules)]
    uses = {use.call for use in find_uses(tree) if use.line <= line <= use.last_line}
    is_refusal = error.errno == errno.EPERM
    if is_refusal or (error.errno == errno.ENOENT and error.filename is None and "multiprocessing" in inside):
        named = [call for call in uses if KEYS.get(call) not in (None, "user_name", "compiler", *ONLY_AT_IMPORT)]
        return next(iter([*inside, *sorted(named)]), "")
    return "os.getlogin" if error.errno in NOT_A_TERMINAL and "os.getlogin" in uses else ""


def find_own_module(error: ImportError, text: str, folder: Path, package: str) -> Text | None:
    """Return a sentence about an import that does not find one of the student's own files, or None."""
    pattern = rf"(?:No module named|cannot import name) '({package}\.)?(\w+)'(?: from '{package}' |$)"
    if not (names := re.search(pattern, text)):
        return None
    own = [file.stem for file in sorted(folder.glob("*.py"))]
    found = next((module for module in own if module.casefold() == names[2].casefold()), None)
    if found and isinstance(error, ModuleNotFoundError) and not names[1]:
        return Text(
            "{error}; use a relative import for your own files: from .{module} import …", error=text, module=found
        )
    if found and found != names[2]:
        return Text("{error}; there is {file}: upper and lower case differ", error=text, file=f"{found}.py")
    return None


def find_key(name: str) -> str:
    """Return the key of the difference that `name_refused` has named, or ""."""
    return "variable" if name == ENVIRONMENT else RAISED_IN.get(name) or KEYS.get(name, "")
