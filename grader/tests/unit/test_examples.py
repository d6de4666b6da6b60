"""The examples of stubs hold: they run with the solution in the stub's place.

The comment behind an expression begins with its value, and that behind a statement may have `name = value`; a colon
ends it, and words may follow. Numbers are as exact as written, after "about" to a fifth.
"""

import ast
import io
import math
import random
import re
import tokenize
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from grader.tests.shown import ROUNDED, fail_to_parse, last_unit, rounds_to
from grader.tests.solution import SOLUTION
from torchkata.assignment import Assignment
from torchkata.course import course

EXAMPLE = re.compile(r"^Example\b.*:\n((?:    .*\n|\n)+)", re.MULTILINE)
CUT_OFF = re.compile(r"(\d\.\d+)\.\.\.")  # 0.829..., whatever comes after

Names = dict[str, Any]


def docstrings(source: str) -> list[str]:
    """Those of a module, and of its classes and functions."""
    nodes = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def examples(source: str) -> list[str]:
    """The code of all examples in the docstrings of a module."""
    blocks = [block for text in docstrings(source) for block in EXAMPLE.findall(f"{text}\n")]
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


def remarks(source: str) -> dict[int, str]:
    """The comment behind each line; one that goes on alone in the next lines belongs to the first."""
    found: dict[int, str] = {}
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip()
            last = last if alone and last else token.start[0]
            found[last] = f"{found.get(last, '')} {token.string.lstrip('# ')}".strip()
        elif token.type not in (tokenize.NL, tokenize.NEWLINE):
            last = token.end[0]
    return found


def stated(comment: str) -> list[list[ast.expr]]:
    """The values that a comment begins with, each with all that it is said to equal."""
    text, _, _ = CUT_OFF.sub(r"cut_off(\1)", comment).partition(": ")
    text = re.sub(r"\babout ([-\w./ ]+)", r"about(\1)", text.removesuffix(":"))
    try:
        tree = ast.parse(text.replace(" = ", " == ").strip(), mode="eval").body
    except SyntaxError as error:
        error.text = comment
        raise
    parts = tree.elts if isinstance(tree, ast.Tuple) and not text.strip().startswith("(") else [tree]
    return [[part.left, *part.comparators] if isinstance(part, ast.Compare) else [part] for part in parts]


def run_example(source: str, names: Names) -> int:
    """Run an example: how many of its values were compared. Raises AssertionError for one that is wrong."""
    statements = ast.parse(source).body
    said, compared = remarks(source), 0
    for node in statements:
        comment = said.get(node.end_lineno or 0, "")
        value = outcome(node, names, comment)
        for optimizer in [one for one in names.values() if isinstance(one, torch.optim.Optimizer)]:
            for state in optimizer.state.values():
                names |= state
        if isinstance(node, ast.Expr) and (value is not None or comment.startswith("None")):
            if comment:
                compared += compare(value, comment, names)
        elif " = " in comment:
            for sides in stated(comment):
                assert len(sides) > 1, comment
                assert_equal(evaluated(sides[0], names), sides[1:], names, comment)
                compared += 1
    return compared


def outcome(node: ast.stmt, names: Names, comment: str) -> Any:
    """The value of an expression, the class of the error that the comment promises, None for any other statement."""
    if not isinstance(node, ast.Expr):
        exec(compile(ast.Module([node], []), "example", "exec"), names)
        return None
    try:
        return evaluated(node.value, names)
    except Exception as error:
        if comment.partition(":")[0] != type(error).__name__:
            raise
        return type(error)


def evaluated(node: ast.expr, names: Names) -> Any:
    """What an expression is."""
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "example", "eval"), names)


def compare(value: Any, comment: str, names: Names) -> int:
    """Demand that a value, or each of several, is what the comment begins with; how many."""
    parts = stated(comment)
    values = value if len(parts) > 1 and isinstance(value, tuple) else (value,)
    assert len(values) == len(parts), comment
    for one, sides in zip(values, parts, strict=True):
        assert_equal(one, sides, names, comment)
    return len(parts)


def assert_equal(value: Any, sides: list[ast.expr], names: Names, comment: str) -> None:
    """Demand that a value is all that it is said to be."""
    for side in sides:
        assert agrees(value, side, names), f"it is {value}, and should be {comment}"


def agrees(value: Any, said: ast.expr, names: Names) -> bool:
    """Whether a value is what is written: items one by one, a number as exactly as it is written."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        value = value.tolist()
    if isinstance(said, ast.Call) and ast.unparse(said.func) == "tensor":
        said = said.args[0]
    if isinstance(said, (ast.List, ast.Tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(said.elts):
            return False
        return all(agrees(one, part, names) for one, part in zip(value, said.elts, strict=True))
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(said, ast.Call) and ast.unparse(said.func) in ("about", "cut_off"):
        number = evaluated(said.args[0], names)
        room = abs(number) / 5 if ast.unparse(said.func) == "about" else unit(ast.unparse(said.args[0]))
        return bool(abs(value - number) <= room + ROUNDED * abs(number))
    expected = evaluated(said, names)
    if isinstance(expected, (bool, type(None))) or isinstance(value, (bool, type(None))):
        return value is expected
    if not isinstance(value, (int, float)):
        return bool(value == expected)
    expected = expected.item() if isinstance(expected, torch.Tensor) else expected
    return math.isclose(value, expected, rel_tol=1e-4, abs_tol=1e-6) if is_sum(said) else as_written(value, said)


def is_sum(said: ast.expr) -> bool:
    """Whether something is computed there, as in `8 - 1`."""
    return not isinstance(said.operand if isinstance(said, ast.UnaryOp) else said, ast.Constant)


def as_written(value: float, said: ast.expr) -> bool:
    """Whether a number rounds to what is written; of one or two digits, all are meant."""
    text = ast.unparse(said).replace(" ", "")
    number, digits = float(text), len(Decimal(text).normalize().as_tuple().digits)
    if isinstance(value, int) or digits < 3:
        return math.isclose(value, number, rel_tol=1e-5, abs_tol=1e-6) and (isinstance(value, float) or value == number)
    return rounds_to(value, text)


def unit(text: str) -> float:
    """What the last digit of a number counts for."""
    return float(last_unit(Decimal(text)))


@pytest.fixture
def solution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], Names]]:
    """The names that an example of a kata can use, in a folder and with random generators of its own."""
    monkeypatch.chdir(tmp_path)
    others = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield names_of
    random.setstate(others[0])
    np.random.set_state(others[1])


def names_of(kata: str) -> Names:
    """Those of the solution, and of what a stub's example takes for granted."""
    given: Names = {"torch": torch, "nn": nn, "np": np, "random": random, "sqrt": math.sqrt, "tensor": torch.tensor}
    return {**given, **vars(getattr(Assignment(SOLUTION, "exemplary"), kata))}


def check_examples(stub: Path, names: Names) -> int:
    """Run the examples of a stub, and return how many values were compared; fail with the line that does not parse."""
    try:
        return sum([run_example(example, names) for example in examples(stub.read_text("utf-8"))])
    except SyntaxError as error:
        fail_to_parse(stub, error)


@pytest.mark.parametrize("kata", course().katas)
def test_the_examples_of_a_stub_hold(kata: str, solution: Callable[[str], Names]) -> None:
    assert check_examples(course().stub(kata), solution(kata)) > 0


@pytest.mark.parametrize(
    "example",
    [
        "underflows(-1e-3, torch.float8_e4m3fn), underflows(0.0, torch.float16)     # True, False: 0 was 0 before",
        "largest(torch.float16)     # 65505",
        "largest(torch.float16)     # 65504 = 2**16",
        "storage_bytes((4, 8), torch.float32), 3     # 128",
        "x = storage_bytes((), torch.bfloat16)     # x = 4",
        "torch.tensor([0.5, 0.8306])     # [0.5, 0.829...]",
    ],
)
def test_an_example_that_is_wrong_is_found(example: str, solution: Callable[[str], Names]) -> None:
    """The first one stood in the stub."""
    with pytest.raises(AssertionError):
        run_example(example, solution("floating_point"))


@pytest.mark.parametrize(
    "example", ["largest(torch.float16    # 65504", "largest(torch.float16)    # 65504 =", "1 +", "x = = 1    # x = 1"]
)
def test_broken_example_fails_in_one_line(example: str, solution: Callable[[str], Names], tmp_path: Path) -> None:
    stub = tmp_path / "stub.py"
    stub.write_text(f'"""Stub.\n\nExample:\n    2 + 2    # 4\n    {example}\n"""\n', "utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"^[^\n]*stub\.py:5: this example does not parse: [^\n]*$"):
        check_examples(stub, solution("floating_point"))
