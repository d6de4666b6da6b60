"""Tests of the linter: it finds shortcuts under any name, accepts honest code and survives hostile code."""

import pytest

from grader.pipeline.lint import find_missing_rules, lint_file, report_skipped
from grader.proof.zoo import read_package
from torchkata.course import course, handout

FORMULAS = [kata.name for kata in course().katas.values() if {"layer", "optimizer", "training"} & {*kata.lint}]


def list_findings(kata: str, source: str) -> list[tuple[int, str]]:
    return [(r.line, r.text.partition(": ")[0]) for r in lint_file(f"{kata}.py", source.encode())]


def test_missing_rules_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    katas = course().choose(["linear", "sgd", "strides"])
    assert find_missing_rules(katas) == ""
    monkeypatch.setattr(type(course()), "lint", {"layer": {}})
    line = "reference/lint.toml does not define optimizer: shortcuts in sgd are not reported"
    assert find_missing_rules(katas).endswith(line)
    monkeypatch.setattr(handout, "LIST", "pyproject.toml")
    assert find_missing_rules(katas) == "", "a handout has no rules"


@pytest.mark.parametrize("files", [course().solutions(), read_package(course().assignment)], ids=["solution", "stubs"])
def test_solution_and_stubs_have_no_findings(files: dict[str, bytes]) -> None:
    assert [finding for file, source in files.items() for finding in lint_file(file, source)] == []


@pytest.mark.parametrize(
    ("kata", "source", "expected"),
    [
        ("sgd", "import torch\nclass SGD(torch.optim.SGD): ...", [(2, "torch.optim.SGD")]),
        ("sgd", "import torch.optim as o\nSGD = o.SGD", [(2, "torch.optim.SGD")]),
        ("sgd", "from torch.optim import SGD as S\nclass SGD(S): ...", [(2, "torch.optim.SGD")]),
        ("sgd", "from torch import optim\nf = getattr(optim, 'SGD')", [(2, "torch.optim.SGD")]),
        ("sgd", "from torch.optim import *\nBase = SGD", [(2, "torch.optim.SGD")]),
        ("sgd", "from torch.optim.sgd import SGD as S\nclass SGD(S): ...", [(2, "torch.optim.sgd")]),
        ("sgd", "from torch.optim import SGD", [(1, "torch.optim.SGD")]),
        ("sgd", "from torch.optim import AdamW as SGD", [(1, "torch.optim.AdamW")]),
        ("sgd", "import torch\no = torch.optim\nm = o\nSGD = m.SGD", [(4, "torch.optim.SGD")]),
        ("sgd", "import torch\no = torch.optim\no = None\nSGD = o.SGD", []),
        ("sgd", "from torch.optim import SGD\nclass SGD: ...", []),
        ("sgd", "from torch.optim import Optimizer\nclass SGD(Optimizer): ...", []),
        ("adam", "from torch.optim._functional import adam\nadam()", [(2, "torch.optim._functional")]),
        ("adam", "import torch\nf = torch._fused_adam_", [(2, "torch._fused_adam_")]),
        ("adamw", "from .adam import Adam\nclass AdamW(Adam): ...", []),
        ("linear", "from torch import nn\nl = nn.Linear(1, 2)\nm = nn.Linear(2, 1)", [(2, "torch.nn.Linear")]),
        ("linear", "import torch.nn.functional as F\ny = F.linear(1, 2)", [(2, "torch.nn.functional.linear")]),
        ("helpers", "from torch import nn\nl = nn.Linear(1, 2)", [(2, "torch.nn.Linear")]),
        ("sgd", "from reference.solution.sgd import SGD", [(1, "import reference")]),
        ("sgd", "import tests.probes.sgd as p", [(1, "import tests")]),
        (
            "sgd",
            "import importlib as i\ni.import_module('torchkata')",
            [(2, "import torchkata"), (2, "importlib.import_module")],
        ),
        ("sgd", "from .linear import Linear", []),
        ("sgd", "import sys\nsys._getframe(1)", [(2, "sys._getframe")]),
        ("break_sgd", "import dis\nfor i in dis.get_instructions(len): ...", [(2, "dis")]),
        ("break_sgd", "import inspect\ninspect.signature(len)", []),
        ("break_sgd", "def check(SGD):\n  raise KeyboardInterrupt('text')", [(2, "KeyboardInterrupt")]),
        ("sgd", "def f(frame):\n  return frame.f_back.f_locals", [(2, "f_back"), (2, "f_locals")]),
        ("sgd", "def f(error):\n  return getattr(error.__traceback__, 'tb_frame')", [(2, "tb_frame")]),
        ("sgd", "import sys\nsys.modules['grader.sandbox'].x = 1", [(2, "import grader"), (2, "sys.modules")]),
        ("sgd", "import torch\ntorch.Tensor.add_ = torch.Tensor.add", [(2, "torch.Tensor.add_")]),
        ("sgd", "from torch import Tensor as T\nsetattr(T, 'add_', T.add)", [(2, "torch.Tensor")]),
        ("sgd", "import torch\ntorch.backends.cudnn.deterministic = True", []),
        ("sgd", "def f(p, self):\n  p.grad = self.x = None\n  setattr(p, 'grad', 1)", []),
        ("get_batch", "import torch\nclass T(torch.Tensor):\n  def detach(self): ...", [(2, "torch.Tensor")]),
        ("get_batch", "class D(dict):\n  values = lambda self: []", [(1, "dict")]),
        ("get_batch", "from torch import Tensor, nn\nclass T(Tensor): ...\nclass M(nn.Module):\n  def f(s): ...", []),
        ("get_batch", "import os\nos.truncate('a', 0)", [(2, "os.truncate"), (2, "truncate")]),
        ("train", "def train(get_batch):\n  get_batch.sizes.pop()", [(2, "sizes")]),
        ("checkpoint", "def f(path):\n  path.parent.glob('*')", [(2, "glob")]),
        ("sgd", "def f(path):\n  path.parent.glob('*')", []),
        ("sgd", "open('/proc/self/maps')\nopen('/tmp')", [(1, "/proc"), (2, "/tmp")]),
        ("sgd", "a = '/process', 'see /proc', b'/proc', '/'", []),
        ("sgd", "eval('1')\nexec('1')", [(1, "eval"), (2, "exec")]),
        ("sgd", "import re\nmodel.eval()\nre.compile('x')", []),
        ("sgd", "def eval(x): return x\neval(1)", []),
        ("sgd", "import subprocess, urllib.request", [(1, "import subprocess"), (1, "import urllib")]),
        ("sgd", "import os\nos.system('ls')\nos.replace('a', 'b')", [(2, "os.system")]),
        ("checkpoint", "import torch\ndef f(path, model):\n  torch.save(model, path)", [(3, "torch.save")]),
        ("checkpoint", "from torch import save\ndef f(optimizer):\n  save({'o': [optimizer]}, 1)", [(3, "torch.save")]),
        ("checkpoint", "import torch\ndef f(model):\n  torch.save({'m': model.state_dict()}, 1)", []),
    ],
)  # fmt: skip
def test_lint_finds_shortcuts_and_accepts_honest_code(kata: str, source: str, expected: list[tuple[int, str]]) -> None:
    assert list_findings(kata, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        *(b"def broken(:", b"x = 1\0", b"\xff\xfe\xfa", b"# coding: nonsense\n", b"(" * 5000),
        *(b"-" * 200_000 + b"1", b"a" + b".b" * 300_000, b"1" + b"+1" * 200_000),
        b"import os\n" + b"def f():\n os.fork()\n" * 2000,
    ],
)
def test_lint_does_not_crash_on_hostile_sources(source: bytes) -> None:
    assert [finding.kata for finding in lint_file("sgd.py", source)] == ["sgd"]


@pytest.mark.parametrize("kata", FORMULAS)
@pytest.mark.parametrize(
    "source",
    [
        "import torch\nOPERATOR = torch.ops.aten.linear.default",
        "from torch import ops as o\nOPERATOR = getattr(o.aten, '_fused_sgd_')",
        "from torch.ops import aten\nOPERATOR = aten.linear",
        "import torch.library as own\nOPERATOR = own.custom_op('own::linear', mutates_args=())",
    ],
)
def test_lint_reports_direct_use_of_torch_operators(kata: str, source: str) -> None:
    assert {finding.line for finding in lint_file(f"{kata}.py", source.encode())} == {2}


@pytest.mark.parametrize("kata", FORMULAS)
def test_unusual_solutions_have_no_torch_operator_findings(kata: str) -> None:
    for path in (course().folder(kata) / "right").glob("*.py"):
        texts = [finding.text for finding in lint_file(f"{kata}.py", path.read_bytes())]
        assert not [text for text in texts if text.startswith(("torch.ops", "torch._ops", "torch.library"))], path


def test_copied_oracle_is_found() -> None:
    oracle = (course().folder("train") / "oracle.py").read_text("utf-8")
    copied = oracle.replace('"""The weights after', '"""Another docstring')
    (found,) = [finding for finding in lint_file("train.py", copied.encode()) if "copy" in finding.text]
    assert found.text.startswith("reference.train.oracle.train: ")
    rewritten = oracle.replace("error**2", "error * error")
    assert not [finding for finding in lint_file("train.py", rewritten.encode()) if "oracle" in finding.text]


def test_file_skipped_by_lint_is_reported() -> None:
    found = report_skipped(["sgd.py", "linear.py"], ["sgd.py"])
    assert [(finding.kata, finding.line) for finding in found] == [("linear", 1)]
    assert "not searched" in found[0].text
