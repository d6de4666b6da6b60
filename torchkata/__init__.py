"""What a student's pytest and the grader share: course, seam, and the words of a failure."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """What `%load_ext torchkata` calls: make `%kata` and `%%kata` known."""
    importlib.import_module("torchkata.notebook.magic").register(shell)  # by name: who imports us does not need it
