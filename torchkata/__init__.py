"""The public API of torchkata, for the tests, probes and mistakes of a course.

A course may import only these names (`from torchkata import Student, assert_close`). Every other module of `torchkata`
and `grader` is private and may change in any release. Before a public name is removed, it is deprecated for one minor
release with a `DeprecationWarning` that names its replacement.

A name is imported when it is first used, because a sandboxed worker has only the modules in `inside/`, and because
`kata --help` should not wait for numpy or torch.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:  # `python -m torchkata`: files here must not hide libraries
    del sys.path[0]
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if sys.version_info < (3, 11):  # noqa: UP036  (a handout can be used without installing it, so pip has not checked it)
    AT = f"torchkata needs Python 3.11 or newer, but {sys.executable} is Python {sys.version.split()[0]}"
    FIRST = (
        "activate the course's environment"
        if Path(".venv/pyvenv.cfg").is_file()
        else "install a newer Python, then create .venv"
    )
    raise SystemExit(f'{AT}: {FIRST} (docs/students.md, "Set up")')

from .inside.lazy import import_name

if TYPE_CHECKING:  # the list of the public names; `import_name` reads these lines from this file
    from IPython.core.interactiveshell import InteractiveShell

    from . import speed as speed
    from .compare.assertions import as_float64 as as_float64
    from .compare.assertions import asking as asking
    from .compare.assertions import assert_close as assert_close
    from .compare.assertions import assert_equal as assert_equal
    from .compare.assertions import check as check
    from .compare.assertions import precondition as precondition
    from .compare.assertions import require as require
    from .compare.equality import same as same
    from .compare.numbers import assert_count as assert_count
    from .compare.numbers import assert_number as assert_number
    from .compare.repro_code import literal as literal
    from .compare.show import show as show
    from .diagnosis.mistakes import Mistake as Mistake
    from .diagnosis.mistakes import instead_of as instead_of
    from .inside.probes import call_methods as call_methods
    from .inside.probes import typed as typed
    from .inside.text import Text as Text
    from .inside.torch_internals import DispatchMode as DispatchMode
    from .inside.values import Plain as Plain
    from .seam.student import Student as Student


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it (PEP 562)."""
    if PurePath(sys.argv[0]).match("test_*.py"):  # as a program, a test file would run no test: say which command does
        from .i18n import translate
        from .inside.text import Text

        raise SystemExit(translate(Text("pytest runs the tests in this file: pytest {file}", file=sys.argv[0])))
    return import_name(__name__, name)


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the `%kata` and `%%kata` magics. IPython calls this function for `%load_ext torchkata`."""
    from .notebook.magic import register

    register(shell)
