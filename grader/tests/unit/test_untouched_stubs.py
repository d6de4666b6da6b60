"""Tests of how an untouched stub is recognized by its source."""

import ast

import pytest

from torchkata.course import course
from torchkata.inside.source.stubs import find_line

STUB = 'def f(x):\n    """Return x."""\n    raise NotImplementedError\n'
UNTOUCHED = {
    "with imports": ("import torch\nfrom torch import nn\n\n\n" + STUB, 7),
    "with a helper that is not written": (STUB + "\n\ndef g():\n    raise NotImplementedError('later')\n", 3),
    "a class": (
        "class A(B):\n    def __init__(self):\n        super().__init__()\n        raise NotImplementedError\n",
        4,
    ),
}
STARTED = {
    "empty": "",
    "only a comment": "# nothing\n",
    "a helper": STUB + "\n\ndef g():\n    return 1\n",
    "a lambda instead": STUB + "\n\ng = lambda x: x\n",
    "an assignment before": "f = print\n" + STUB,
    "an import after": STUB + "from somewhere import f\n",
    "a decorator": "@cache\n" + STUB,
    "another exception": STUB.replace("NotImplementedError", "ValueError"),
    "no exception": STUB.replace("raise NotImplementedError", "pass"),
    "an expression before the exception": STUB.replace("    raise", "    print(x)\n    raise"),
    "a method": "class A:\n    def f(self):\n        raise NotImplementedError\n    g = print\n",
    "a call at import": "print()\n" + STUB,
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_untouched_file_is_recognized(name: str) -> None:
    source, line = UNTOUCHED[name]
    assert find_line(ast.parse(source)) == line


@pytest.mark.parametrize("name", STARTED)
def test_started_file_is_run(name: str) -> None:
    assert find_line(ast.parse(STARTED[name])) == 0


def test_most_stubs_and_no_solutions_are_recognized() -> None:
    stubs = [course().stub(kata).read_text("utf-8") for kata in course().katas]
    recognized = sum(find_line(ast.parse(stub)) > 0 for stub in stubs)
    assert recognized >= 0.9 * len(stubs), "the others define more than functions that raise NotImplementedError"
    assert not any(find_line(ast.parse(source)) for source in course().solutions().values())
