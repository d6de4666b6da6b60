"""Tests of replies for student code that raised an exception: they contain the student's own line and advice."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from torchkata.inside.assignment import Assignment
from torchkata.inside.reply import Reply, run_probe
from torchkata.inside.source.text import decode, find_undecodable


def run(folder: Path, source: str | bytes, probe: Callable[..., object] | None = None) -> Reply:
    (folder / "sgd.py").write_bytes(source.encode() if isinstance(source, str) else source)
    return run_probe(Assignment(folder), probe or (lambda assignment: assignment.sgd.f(1)), [])


def test_stub_has_outcome_not_written(tmp_path: Path) -> None:
    body = '"""A stub."""\n        super().__init__()\n        raise NotImplementedError\n'
    assert run(tmp_path, f"class f:\n    def __init__(self, x):\n        {body}").outcome == "not_written"


@pytest.mark.parametrize(
    "body", ["y = x + 1\n    raise NotImplementedError", "raise NotImplementedError\n    return x", "g(x)"]
)
def test_leftover_raise_statement_is_reported_with_advice(tmp_path: Path, body: str) -> None:
    found = run(tmp_path, f"def g(x):\n    x += 1\n    raise NotImplementedError\n\ndef f(x):\n    {body}\n")
    assert (found.outcome, found.source) == ("raised", "raise NotImplementedError")
    assert found.error == "NotImplementedError: the stub's `raise` is still in your function: remove it"


def test_missing_name_is_shown_with_file(tmp_path: Path) -> None:
    found = run(tmp_path, "")
    assert (found.outcome, found.error, found.file, found.line) == ("raised", "sgd.py does not define f", "sgd.py", 0)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_non_utf8_file_is_reported_with_advice(tmp_path: Path, encoding: str) -> None:
    found = run(tmp_path, "def f(x):\n    return x\n".encode(encoding))
    assert found.error == "SyntaxError: the file is not UTF-8 text (perhaps UTF-16): save it as UTF-8"
    assert (found.outcome, found.file) == ("raised", "sgd.py")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\n\ndef f():\n    return 1\n", "def f():"),
        ("class f:\n    def __init__(self):\n        pass\n", "def __init__(self):"),
        ("class f:\n    def __init__(self, *, x):\n        pass\n", "def __init__(self, *, x):"),
    ],
)
def test_unexpected_arguments_show_the_signature(tmp_path: Path, source: str, line: str) -> None:
    found = run(tmp_path, source)
    assert found.error.startswith("TypeError: ")
    assert (found.file, found.source) == ("sgd.py", line)


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        ("return os.sep", "; is `import os` missing?"),
        ("layers = x\n    return layesr", "; did you mean layers?"),
        ("self = torch.nn.Linear(1, 1)\n    return weight", "; did you mean self.weight?"),
        ("return torch.nn.Linear(1, 1).wieght", "; did you mean weight?"),
        ("return None.shape", "'NoneType' object has no attribute 'shape'"),
        ('len("a"); name = "/no/such/file"; open(name)', "'/no/such/file'; raised by open()"),
        ('import pathlib; pathlib.Path("/no/file").read_text()', "'/no/file'; raised by read_text()"),
    ],
)
def test_error_suggests_a_name_or_shows_the_call(tmp_path: Path, body: str, ending: str) -> None:
    assert run(tmp_path, f"import torch\n\ndef f(x):\n    {body}\n").error.endswith(ending)


def test_escape_codes_are_removed(tmp_path: Path) -> None:
    assert run(tmp_path, "def f(x):\n    raise ValueError('\\x1b[1mbold\\x1b[0m')\n").error == "ValueError: bold"


def test_absolute_import_of_own_file_gets_advice(tmp_path: Path) -> None:
    (tmp_path / "linear_of_mine.py").write_text("Linear = 1\n")
    found = run(tmp_path, "from linear_of_mine import Linear\n")
    assert found.error.endswith("use a relative import for your own files: from .linear_of_mine import …")
    assert found.source == "from linear_of_mine import Linear"


@pytest.mark.parametrize(("key", "said"), [("m", "KeyError: 'm' (in self.state[p])"), ("lr", "KeyError: 'lr'")])
def test_missing_optimizer_state_key_is_reported(tmp_path: Path, key: str, said: str) -> None:
    source = f"""
import torch

class f(torch.optim.Optimizer):
    def __init__(self, x):
        super().__init__([torch.ones(1, requires_grad=True)], {{}})
        s = self.state[self.param_groups[0]["params"][0]]
        group = {{}}
        {"s" if key == "m" else "group"}["{key}"]
"""
    found = run(tmp_path, source)
    assert (found.error, found.line) == (said, 9)


def test_uninitialized_memory_is_filled_deterministically(tmp_path: Path) -> None:
    floats = run(
        tmp_path, "import torch\n\ndef f(x):\n    return torch.zeros(2).resize_(3), torch.Tensor(2, x)\n"
    ).value
    assert [one.isnan().tolist() for one in floats] == [[False, False, True], [[True], [True]]]
    whole = run(tmp_path, "import torch\n\ndef f(x):\n    return torch.empty(x, dtype=torch.int64)\n")
    assert whole.value.tolist() == [2**63 - 1]
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.parametrize("encoding", ["hex", "undefined", "rot13", "punycode", "idna", "no such", "gb18030", "utf-8"])
def test_any_file_can_be_decoded(encoding: str) -> None:
    content = f"# coding: {encoding}\n".encode() + b"a-" + b"z9" * 2**19 + b"\xff\n"
    assert decode(content).startswith(f"# coding: {encoding}\n")
    assert find_undecodable(content) in (0, 2)
