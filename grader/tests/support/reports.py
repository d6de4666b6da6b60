"""Code that works at a student's desk, and what the checks at home and the grader must say about it.

Each entry comes from a public report about an autograder. For the next report, add an entry.
"""

import sys
from dataclasses import dataclass

from grader.tests import ROOT
from grader.tests.support.submissions import LINEAR

NO_PROCESSES = "the grader runs code without other processes"
NO_NETWORK = "the grader runs code without a network"
NO_LOOP = "the grader runs code without event loops"
NO_USER = "the grader runs code without a user name"
NO_CALL = "the grader's sandbox refuses this system call"
AT_IMPORT = 'this runs when the file is imported: put it under `if __name__ == "__main__":`'

NO_END = "a function calls itself without end"
NO_DEBUGGER = "a debugger waits for a person"
NOT_YOURS = "which the grader does not have for your code"
BELONGS_TO_COURSE = "this module belongs to the course"

HOME_ONLY = "depends on the packages of this machine"


@dataclass(frozen=True)
class Report:
    """A file, and a part of what is said about it: by `kata export` and `kata check`, and in a graded failure.

    "" means that nothing is said, and for `graded` that the code works.
    """

    source: str | bytes
    home: str
    graded: str

    @property
    def content(self) -> bytes:
        """The content of the file."""
        return self.source if isinstance(self.source, bytes) else self.source.encode()


def refuse(source: str, said: str) -> Report:
    """Return a report about code that causes the same sentence at home and in the grader."""
    return Report(f"{source}\n{LINEAR}", said, said)


def alike(source: str, said: str) -> Report:
    """Return a report about a file that is not Python, and causes the same sentence at home and in the grader."""
    return Report(source, said, said)


def accept(source: str) -> Report:
    """Return a report about code that must not be blamed: it is unusual, but works in the grader."""
    return Report(f"{source}\n{LINEAR}", "", "")


def need(minor: int, source: str, *, is_syntax: bool = True) -> Report:
    """Return a report about code that needs Python 3.`minor`, in a handout whose grader may have Python 3.11."""
    is_new = sys.version_info.minor < minor
    home = "(in Python 3." if is_new and is_syntax else f"needs Python 3.{minor}, and the grader may have Python 3.11"
    return Report(f"{source}\n{LINEAR}", home, "(in Python 3." if is_new else "")


FORBIDDEN = {
    "DataLoader with workers": refuse(
        "from torch.utils.data import DataLoader\nlist(DataLoader([1, 2], num_workers=1))", "use num_workers=0"
    ),
    "asyncio.run": refuse("import asyncio\nasyncio.run(asyncio.sleep(0))", NO_LOOP),
    "an event loop": refuse("import asyncio\nloop = asyncio.new_event_loop()", NO_LOOP),
    "nvidia-smi": refuse("import subprocess\nsubprocess.run(['nvidia-smi'], capture_output=True)", NO_PROCESSES),
    "a process without pipes": refuse("from subprocess import check_call as run\nrun(['ls'])", NO_PROCESSES),
    "os.popen": refuse("import os\nos.popen('ls').read()", NO_PROCESSES),
    "os.fork": refuse("import os\nos.fork()", NO_PROCESSES),
    "multiprocessing.Lock": refuse("import multiprocessing as mp\nLOCK = mp.Lock()", NO_PROCESSES),
    "multiprocessing.Pool": refuse("from multiprocessing import Pool\nPool(2)", NO_PROCESSES),
    "multiprocessing.Process": refuse(
        "from multiprocessing import Process\nProcess(target=print).start()", NO_PROCESSES
    ),
    "a pool of processes": refuse(
        "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor() as pool: pool.submit(abs, 1)",
        NO_PROCESSES,
    ),
    "a socket": refuse("import socket\nsocket.socket()", NO_NETWORK),
    "urlopen": refuse("import urllib.request\nurllib.request.urlopen('http://example.org')", NO_NETWORK),
    "gethostbyname": refuse("import socket\nsocket.gethostbyname('example.org')", NO_NETWORK),
    "getpass.getuser": refuse("import getpass\ngetpass.getuser()", NO_USER),
    "os.getlogin": refuse("import os\nos.getlogin()", NO_USER),
    "os.environ['USER']": Report(f"import os\nos.environ['USER']\n{LINEAR}", NO_USER, "the grader sets hardly any"),
    "any variable": Report(f"import os\nos.environ['HF_HOME']\n{LINEAR}", "", "use os.environ.get() with a default"),
    "a lock on a file": refuse("import fcntl\nfcntl.flock(open('x', 'w'), fcntl.LOCK_EX)", NO_CALL),
    "breakpoint": refuse("breakpoint()", NO_DEBUGGER),
    "pdb": refuse("import pdb\npdb.set_trace()", NO_DEBUGGER),
    "the engine": Report(f"from torchkata import assert_close\n{LINEAR}", NOT_YOURS, BELONGS_TO_COURSE),
    "the course's tests": Report(f"from tests import strategies\n{LINEAR}", NOT_YOURS, BELONGS_TO_COURSE),
    "the oracle": Report(f"from reference.linear import oracle\n{LINEAR}", NOT_YOURS, BELONGS_TO_COURSE),
    "disk_usage": refuse("import shutil\nshutil.disk_usage('.')", NO_CALL),
    "share_memory_": Report(f"import torch\ntorch.ones(1).share_memory_()\n{LINEAR}", "", NO_PROCESSES),
    "endless recursion": Report(
        f"import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()\n{LINEAR}", "", NO_END
    ),
    "endless recursion through torch": Report(
        "import sys\nfrom torch import nn\nsys.setrecursionlimit(10**9)\nclass Endless(nn.Module):\n"
        f"    def forward(self): return self()\nEndless()()\n{LINEAR}",
        "",
        NO_END,
    ),
    "torch.compile as a decorator": Report(
        LINEAR.replace("    def forward", "    @torch.compile\n    def forward"),
        "line 15: torch.compile: the grader has no",
        "",
    ),
    "torch.compile with options": Report(
        f"import torch\nf = torch.compile(lambda x: x, mode='max-autotune')\nf(torch.ones(1))\n{LINEAR}",
        "its tests run the code without torch.compile",
        "",
    ),
}
READS = {  # ways to read a file, which `kata check` and `kata export` notice when the code runs
    "open": "open('{}').read()",
    "open in a folder": "import json, os\njson.load(open(os.path.join(os.path.dirname(__file__), '{}')))",
    "Path.read_text": "from pathlib import Path\nPath('{}').read_text()",
    "Path.read_bytes": "from pathlib import Path\n(Path(__file__).parent / '{}').read_bytes()",
    "Path.open": "from pathlib import Path\nwith Path('{}').open() as file:\n    file.read()",
    "os.open": "import os\nos.open('{}', os.O_RDONLY)",
    "np.load": "import numpy as np\nnp.load('{}', allow_pickle=True)",
    "np.loadtxt": "import numpy as np\nnp.loadtxt('{}')",
    "np.fromfile": "import numpy as np\nnp.fromfile('{}')",
    "np.memmap": "import numpy as np\nnp.memmap('{}', mode='r')",
    "torch.load": "import torch\nfrom pathlib import Path\ntorch.load(Path('{}'))",
}
FILES = {
    f"a file read by {name}": Report(f"{code.format('gain.pt')}\n{LINEAR}", "", "gain.pt does not exist there")
    for name, code in READS.items()
}
AT_IMPORT_TIME = {
    "parse_args": refuse("import argparse\nargs = argparse.ArgumentParser().parse_args()", AT_IMPORT),
    "sys.exit": refuse("import sys\nsys.exit(0)", AT_IMPORT),
    "exit": Report(f"exit()\n{LINEAR}", AT_IMPORT, "exit() and quit() exist only in an interactive Python"),
    "input": Report(f"n = input()\n{LINEAR}", AT_IMPORT, "nobody can type into the tests"),
    "a plot": Report(f"from matplotlib import pyplot\npyplot.show()\n{LINEAR}", AT_IMPORT, HOME_ONLY),
    "the default dtype": Report(
        f"import torch\ntorch.set_default_dtype(torch.float64)\n{LINEAR}",
        "torch.set_default_dtype: this changes a setting for all code",
        "the file calls torch.set_default_dtype when it is imported",
    ),
    "the default device": Report(
        f"import torch\ntorch.set_default_device('meta')\n{LINEAR}",
        "torch.set_default_device: this changes a setting for all code",
        "the file calls torch.set_default_device when it is imported",
    ),
    "autograd": Report(
        f"import torch\ntorch.set_grad_enabled(False)\n{LINEAR}", "", "the file calls torch.set_grad_enabled"
    ),
}
OTHER_ENVIRONMENT = {
    "another package": Report(
        f"from no_such_package import tqdm\n{LINEAR}",
        "line 1 imports no_such_package, which is not a package of the course (einops, jaxtyping, ",
        "use only packages of the course: einops, jaxtyping, ",
    ),
    "newer syntax": refuse("x = = 1", "(in Python 3."),
    "a newer name": Report(f"from typing import not_yet\n{LINEAR}", "", "from 'typing' (in Python 3."),
    "a newer function": Report(f"import math\nmath.not_yet(1)\n{LINEAR}", "", "no attribute 'not_yet' (in Python 3."),
    "null bytes at the end": Report(
        f"{LINEAR}\0\0", "contains a null byte: delete it", "contains a null byte: delete it"
    ),
    "a Git LFS pointer": Report(
        "version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer", "is a Git LFS pointer"
    ),
    "Latin-1 in a comment": Report(f"{LINEAR}# größer\n".encode("latin-1"), "is not UTF-8 text: save the file", ""),
    "GB18030 in a comment": Report(f"# 乘法\n{LINEAR}".encode("gb18030"), "line 1 is not UTF-8 text: save", ""),
    "Latin-1 in a docstring": Report(
        f'{LINEAR}"""größer"""\n'.encode("latin-1"),
        "this line is not UTF-8 text: save",
        "not UTF-8 text: save the file",
    ),
    "GB18030 with a coding cookie": Report(
        f"# coding: gb18030\nf'{{1}}'\nNAME = '乘法'\n{LINEAR}".encode("gb18030"), "", ""
    ),
    "Latin-1 in a line that fails": Report(
        f"1 / 0  # größer\n{LINEAR}".encode("latin-1"), "line 1 is not UTF-8 text", "line 1:  1 / 0  # gr\ufffd\ufffder"
    ),
    "UTF-16": Report(LINEAR.encode("utf-16"), "perhaps UTF-16", "perhaps UTF-16"),
}
NEWER_PYTHON = {
    "the same quotes in an f-string": need(12, "f'{dict(a=1)['a']}'"),
    "a nested f-string": need(12, "f'{f'{1}'}'"),
    "a backslash in an f-string": need(12, "f'{len(\"\\n\")}'"),
    "lines in an f-string": need(12, "f'{\n1}'"),
    "a comment in an f-string": need(12, "f'''{\n1  # one\n}'''"),
    "a type statement": need(12, "type Shape = tuple[int, ...]"),
    "type parameters": need(12, "def first[T](x: list[T]) -> T:\n    return x[0]"),
    "a default of a type parameter": need(13, "class Box[T = int]:\n    pass"),
    "except without parentheses": need(14, "try:\n    pass\nexcept OSError, ValueError:\n    pass"),
    "a template string": need(14, "t'{1}'"),
    "an imported function": need(12, "from typing import override", is_syntax=False),
    "a function of a module": need(13, "import math as m\nm.fma(1, 2, 3)", is_syntax=False),
}
STUB = (ROOT / "assignment/linear.py").read_text()
NOT_PYTHON = {
    "a notebook": alike('{\n "cells": [null], "metadata": {}, "nbformat": 4}', "the file is a notebook"),
    "a web page": alike("\n<!DOCTYPE html>\n<html>", "the file is a web page"),
    "a conflict of git": alike(f"<<<<<<< HEAD\nN = 1\n=======\nN = 2\n>>>>>>> b\n{LINEAR}", "a conflict of git"),
    "a conflict in brackets": alike(f"N = [\n<<<<<<< HEAD\n1]\n=======\n2]\n>>>>>>> b\n{LINEAR}", "a conflict of git"),
    "a magic": alike(f"%load_ext autoreload\n{LINEAR}", "work only in a notebook"),
    "a magic for a cell": alike(f"%%kata linear\n{LINEAR}", "work only in a notebook"),
    "a shell command": alike(f"!pip install einops\n{LINEAR}", "work only in a notebook"),
    "get_ipython": refuse("get_ipython().run_line_magic('time', '')", "exists only in a notebook"),
}
OWN_FILES = {
    "another case": Report(
        f"from .Linear import Linear\n{LINEAR}", "the file is linear.py", "there is linear.py: upper"
    ),
    "another case without a dot": Report(
        f"import Linear\n{LINEAR}", "which is not a package", "for your own files: from .linear import"
    ),
    "a missing module, absolutely": Report(
        f"from assignment.mm import mm\n{LINEAR}", "imports .mm, which is not", "No module named 'assignment.mm'"
    ),
    "a name in __init__.py": Report(
        f"from . import mm\n{LINEAR}", "imports .mm, which is not", "__init__.py never runs"
    ),
    "a stub below the solution": Report(f"{LINEAR}\n{STUB}", "defines Linear again", "this stub replaces what line"),
    "a stub of a method": Report(
        f"{LINEAR}\n    def forward(self, x):\n        raise NotImplementedError\n", "defines forward again", ""
    ),
}
UNUSUAL_BUT_RIGHT = {
    "conflict markers in a string": accept("NOTE = '''\n<<<<<<< a\n=======\n>>>>>>> b\n'''"),
    "an operator at the beginning of a line": accept("n = 5\nN = (7\n%n)"),
    "a choice of imports": accept("try:\n    from .linear import __name__\nexcept ImportError:\n    import linear"),
    "the other choice": accept("try:\n    from helpers import half\nexcept ImportError:\n    half = 0.5"),
    "the folder in sys.path": accept("import os, sys\nsys.path.append(os.path.dirname(__file__))\nimport linear"),
    "the folder in sys.path by name": accept("import sys\nsys.path.insert(0, 'assignment')\nimport linear"),
    "an absolute import": accept("import assignment.linear as me\nfrom assignment import linear\nimport assignment"),
    "a property": accept(
        "class A:\n    @property\n    def x(self):\n        pass\n    @x.setter\n    def x(self, x):\n        pass"
    ),
    "a mention in a string": accept("NOTE = 'subprocess.run, os.fork() and input()'"),
    "an unused import": accept("import subprocess, socket, asyncio, multiprocessing"),
    "a failure that is handled": accept(
        "import subprocess\ntry:\n    subprocess.run(['ls'])\nexcept OSError:\n    pass"
    ),
    "a failure that is suppressed": accept(
        "import os\nfrom contextlib import suppress\nwith suppress(OSError):\n    os.fork()"
    ),
    "a package that is optional": accept("try:\n    import no_such_package\nexcept ImportError:\n    pass"),
    "a package for annotations": accept(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import no_such_package"
    ),
    "a script": accept("import subprocess\nif __name__ == '__main__':\n    subprocess.run([input()])"),
    "input in a function": accept("def ask():\n    return input()"),
    "an own function": accept("def input():\n    return 1\nN = input()"),
    "a DataLoader without workers": accept(
        "from torch.utils.data import DataLoader\nlist(DataLoader([1, 2], num_workers=0))"
    ),
    "a file of their own": accept("open('notes.txt', 'w').close()\nopen('notes.txt', mode='a').close()"),
    "a file that is an argument": accept("def read(path):\n    return open(path).read()"),
    "threads": accept(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    pool.submit(abs, 1)"
    ),
    "a thread that never ends": accept(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[9999]).start()"
    ),
    "a lone surrogate": accept("print('\\ud800', b'\\xff'.decode(errors='surrogateescape'))"),
    "numbers of threads": accept("import torch\ntorch.set_num_threads(2)\ntorch.set_num_interop_threads(2)"),
    "a lower limit of the stack": accept(
        "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))"
    ),
    "streams of their own": accept(
        "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer)\nsys.__stdout__.close()\ndel sys.stderr"
    ),
    "deep recursion": accept(
        "import sys\nsys.setrecursionlimit(10**9)\ndef nest(n): return n and nest(n - 1)\nnest(20_000)"
    ),
    "a default": accept("import os\nUSER = os.environ.get('USER', 'me')\nos.environ['HOME']"),
    "an own variable": accept("import os\nos.environ['USER'] = 'me'\nos.environ['USER']"),
    "arguments that are given": accept("import argparse\nargparse.ArgumentParser().parse_args([])"),
    "the default dtype, explicitly": accept("import torch\ntorch.set_default_dtype(torch.float32)"),
    "a setting in a function": accept("import torch\ndef main():\n    torch.set_default_dtype(torch.float64)"),
    "a required package of torch": accept("import typing_extensions"),
    "a newer function, guarded": accept(
        "import sys\nif sys.version_info >= (3, 14):\n    from functools import Placeholder\n"
        "try:\n    from copy import replace\nexcept ImportError:\n    pass"
    ),
    "an old f-string": accept("w = 5\nf'{w:>{w}}{w!r}\\n' f\"{'a'}\" rf'\\{w}'\nf'''{f\"{'a'}\"}\n{\nw\n}'''  # {w}"),
    "an error of their own": Report(
        f"raise PermissionError(1, 'Operation not permitted')\n{LINEAR}", "", "PermissionError: [Errno 1] Operation not"
    ),
    "a key of their own": Report(f"{{}}['USER']\n{LINEAR}", "", "KeyError: 'USER'"),
}
SELF_EXPLANATORY = (
    *("an error of their own", "a key of their own", "a newer name", "a newer function", "newer syntax"),
    *NEWER_PYTHON,
)
REPORTS = {
    **FORBIDDEN,
    **FILES,
    **AT_IMPORT_TIME,
    **OTHER_ENVIRONMENT,
    **NEWER_PYTHON,
    **NOT_PYTHON,
    **OWN_FILES,
    **UNUSUAL_BUT_RIGHT,
}
