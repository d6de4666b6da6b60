"""What the words of torch and Python mean to a beginner: a note beside errors that are often met first."""

import re

from .failures import Crashed, Wrong
from .languages import words
from .student import Call

NOTES = {  # of the error, a line break, and the line that raised it
    "met.no_grad": r"^RuntimeError: a (view of a )?leaf Variable that requires grad is being used in an in-place",
    "met.scalar": r"^RuntimeError: grad can be implicitly created only for scalar outputs",
    "met.base_class": r"^AttributeError: (cannot assign \w+ before Module\.__init__\(\) call|"
    r"'[A-Z]\w*' object has no attribute '(_modules|_parameters|_buffers|_\w+_hooks|param_groups|defaults|state)')",
    "met.state": r"^KeyError: .*\n.*\bstate\b",
    "met.size": r"^TypeError: randint\(\)(: argument 'size' .* must be tuple| .* got \((?![^)]*tuple))",
    "met.by_name": r"^TypeError: .*\(\) takes 0 positional arguments but \d",
    "met.pinned": r"^RuntimeError: (Cannot access accelerator device|Cannot pin|.*[Pp]in(ned)?[ _]memory)",
}
FORGOTTEN = re.compile(r"\bNoneType\b")  # of a test that uses what was returned


def forgotten_return(error: Wrong, call: Call | None) -> str:
    """A question where the whole answer is None, and something else was expected; "" anywhere else."""
    nothing = call is not None and call.answer is None and error.yours.endswith("None")
    return words("met.no_return") if nothing else ""


def note_on(error: Crashed) -> str:
    """What to do about it, in the student's language; "" for an error that says so itself, or that nobody knows."""
    if not error.place.file and FORGOTTEN.search(error.error):
        return words("met.no_return")
    text = f"{error.error}\n{error.place.source}"
    return next((words(key) for key, pattern in NOTES.items() if re.search(pattern, text)), "")
