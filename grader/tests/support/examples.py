"""Checks the examples in stubs by running them with the solution, and checks the arithmetic in texts.

The comment after an expression starts with the value of the expression. The comment after a statement starts with
`name = value`. A colon and further text may follow. Numbers must agree in all written digits, or within 20% if they
are preceded by "about".

    python -m grader.tests.support.examples COURSE KATA...     prints a line for each mistake

The examples are run in a separate process and folder, because they may write files and modify imported modules.
"""

import ast
import io
import math
import os
import random
import re
import sys
import tempfile
import tokenize
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from torchkata.cli.about import find_section
from torchkata.course import course, use
from torchkata.inside.assignment import Assignment

EXAMPLE = re.compile(r"^Example\b.*:\n((?:    .*\n|\n)+)", re.MULTILINE)
CUT_OFF = re.compile(r"(\d\.\d+)\.\.\.")  # 0.829... (truncated)
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = r"(?:\d[\d,]*(?:\.\d+)?(?:e-?\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*)"
TERM = rf"(?:[-−]?√?(?:{NUMBER}|\([-−+*/·√ \d.,e⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+\)))"
SUM = rf"{TERM}(?: ?(?:\*\*|[-−+*/·]) ?{TERM})*"
EQUATION = re.compile(rf"(?<![-−+*/·] )(?<![-−+*/·√.\w]){SUM}(?: = {SUM})+")
FIGURE = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?<!,)")
ROUNDED = 2e-6  # relative tolerance for values halfway between two rounded values
DOTTED = re.compile(r"(?<![\w./])(?:torch|np|nn)(?:\.[a-zA-Z_]\w*)+")  # not in a URL

Names = dict[str, Any]


class Untrue(AssertionError):
    """Raised if an example or calculation is wrong. The message contains the actual and the stated value."""


def main(root: str, katas: list[str]) -> None:
    """Print the mistakes in the examples and calculations of the given katas."""
    use(Path(root))
    with tempfile.TemporaryDirectory(prefix="torchkata-examples-") as folder:
        for name, content in course().solutions().items():
            (Path(folder) / name).write_bytes(content)
        (Path(folder) / "written").mkdir()
        os.chdir(Path(folder) / "written")
        for kata in katas:
            for problem in find_problems(kata, Path(folder)):
                print(" ".join(problem.split()))


def find_problems(kata: str, solution: Path) -> Iterator[str]:
    """Yield a line for each mistake in the examples, calculations and library names in the texts of a kata."""
    stub = f"assignment/{kata}.py"
    source = course().stub(kata).read_text("utf-8")
    try:
        names = collect_names(kata, solution)
        if sum([run_example(example, names) for example in find_examples(source)]) == 0:
            yield f"{stub}: add an example with its value as a comment, such as `f(2)    # 4: 2 * 2`"
    except SyntaxError as error:
        text = (error.text or "").strip()
        line = source.count("\n", 0, max(0, source.find(text))) + 1
        yield f"{stub}:{line}: this example does not parse: {text}"
        return
    except Exception as error:
        yield f"{stub}: the example does not run with the solution: {error or type(error).__name__}"
        return
    kata_file, page = f"reference/{kata}/kata.toml", "docs/katas.md"
    texts = [(stub, "\n".join(find_docstrings(source))), *((kata_file, hint) for hint in course().katas[kata].hints)]
    for place, text in [*texts, (page, find_section(course().katas[kata]))]:
        try:
            check_sums(text)
        except Untrue as error:
            yield f"{place}: {error}"
    for place, text in [(stub, source), *texts[1:], (page, find_section(course().katas[kata]))]:
        for name in sorted({*DOTTED.findall(text)}):
            if not is_known(name, names):
                yield f"{place}: {name} does not exist"


def is_known(name: str, names: Names) -> bool:
    """Return whether a dotted name exists. Names in packages that the course does not preload are assumed to exist."""
    first, *rest = name.split(".")
    found = names.get(first)
    for part in rest if found is not None else ():
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def collect_names(kata: str, solution: Path) -> Names:
    """Return the names available to an example: those of the solution in this folder, `torch`, `np`, `math` …"""
    names: Names = {"np": np, "random": random, "math": math, "sqrt": math.sqrt}
    if "torch" in course().preload:
        torch = import_module("torch")
        torch.manual_seed(0)
        names |= {"torch": torch, "nn": torch.nn, "tensor": torch.tensor}
    return {**names, **vars(getattr(Assignment(solution, "exemplary"), kata))}


def find_docstrings(source: str) -> list[str]:
    """Return the docstrings of a module, its classes and its functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def find_examples(source: str) -> list[str]:
    """Return the code of all examples in the docstrings of a module."""
    blocks = [block for text in find_docstrings(source) for block in EXAMPLE.findall(f"{text}\n")]
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


def find_comments(source: str) -> dict[int, str]:
    """Return the comment after each line, including its continuation on the following comment-only lines."""
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


def parse_values(comment: str) -> list[list[ast.expr]]:
    """Return the values at the start of a comment. Each value is a list: both sides if it is written as an equation."""
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
    """Run an example and return the number of values that were compared. Raises Untrue if a value is wrong."""
    statements = ast.parse(source).body
    comments, compared = find_comments(source), 0
    for node in statements:
        comment = comments.get(node.end_lineno or 0, "")
        value = run_statement(node, names, comment)
        names |= collect_states(names)
        if isinstance(node, ast.Expr) and (value is not None or comment.startswith("None")):
            if comment:
                compared += compare(value, comment, names)
        elif " = " in comment:
            for sides in parse_values(comment):
                if len(sides) < 2:
                    raise Untrue(f"`{comment}` should have the form name = value")
                assert_equal(evaluate(sides[0], names), sides[1:], names, comment)
                compared += 1
    return compared


def collect_states(names: Names) -> Names:
    """Return the per-parameter state of all optimizers, keyed by name, because comments refer to these names."""
    torch = sys.modules.get("torch")
    optimizers = [value for value in names.values() if torch is not None and isinstance(value, torch.optim.Optimizer)]
    states = (state for optimizer in optimizers for state in optimizer.state.values())
    return {name: value for state in states for name, value in state.items()}


def run_statement(node: ast.stmt, names: Names, comment: str) -> Any:
    """Return the value of an expression, the error class stated in the comment, or None for a statement."""
    if not isinstance(node, ast.Expr):
        exec(compile(ast.Module([node], []), "example", "exec"), names)
        return None
    try:
        return evaluate(node.value, names)
    except Exception as error:
        if comment.partition(":")[0] != type(error).__name__:
            raise
        return type(error)


def evaluate(node: ast.expr, names: Names) -> Any:
    """Return the value of an expression."""
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "example", "eval"), names)


def compare(value: Any, comment: str, names: Names) -> int:
    """Compare one or more values with the comment, and return how many were compared.

    Raises Untrue if a value is wrong.
    """
    parts = parse_values(comment)
    values = value if len(parts) > 1 and isinstance(value, tuple) else (value,)
    if len(values) != len(parts):
        raise Untrue(f"got {len(values)} values, expected {comment}")
    for one, sides in zip(values, parts, strict=True):
        assert_equal(one, sides, names, comment)
    return len(parts)


def assert_equal(value: Any, sides: list[ast.expr], names: Names, comment: str) -> None:
    """Raise Untrue if a value differs from any of the sides."""
    for side in sides:
        if not matches(value, side, names):
            raise Untrue(f"got {value}, expected {comment}")


def matches(value: Any, written: ast.expr, names: Names) -> bool:
    """Return whether a value equals the written value. Numbers are compared to as many digits as are written."""
    if hasattr(value, "tolist"):  # a tensor or an array
        value = value.tolist()
    if isinstance(written, ast.Call) and ast.unparse(written.func) == "tensor":
        written = written.args[0]
    if isinstance(written, (ast.List, ast.Tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(written.elts):
            return False
        return all(matches(one, part, names) for one, part in zip(value, written.elts, strict=True))
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(written, ast.Call) and ast.unparse(written.func) in ("about", "cut_off"):
        number = evaluate(written.args[0], names)
        room = abs(number) / 5 if ast.unparse(written.func) == "about" else get_unit(ast.unparse(written.args[0]))
        return bool(abs(value - number) <= room + ROUNDED * abs(number))
    expected = evaluate(written, names)
    if isinstance(expected, (bool, type(None))) or isinstance(value, (bool, type(None))):
        return value is expected
    if not isinstance(value, (int, float)):
        return bool(value == expected)
    expected = expected.item() if hasattr(expected, "item") else expected
    figure = written.operand if isinstance(written, ast.UnaryOp) else written
    if not isinstance(figure, ast.Constant):  # a calculation such as `8 - 1`
        return math.isclose(value, expected, rel_tol=1e-4, abs_tol=1e-6)
    return matches_figure(value, ast.unparse(written).replace(" ", ""))


def matches_figure(value: float, figure: str) -> bool:
    """Return whether a number rounds to the written number.

    Integers, and numbers that are written with one or two digits, must be exact.
    """
    if isinstance(value, int):
        return value == float(figure)
    if len(Decimal(figure).normalize().as_tuple().digits) < 3:
        return math.isclose(value, float(figure), rel_tol=1e-5, abs_tol=1e-6)
    return rounds_to(value, figure)


def rounds_to(value: float, figure: str) -> bool:
    """Return whether a computed value rounds to the written number.

    `ROUNDED` allows for differences in the last digit that depend on the processor.
    """
    return abs(value - float(figure)) <= 0.5 * get_unit(figure) + ROUNDED * abs(value)


def get_unit(text: str) -> float:
    """Return the place value of the last written digit, such as 0.01 for "0.25"."""
    return float(Decimal(1).scaleb(int(Decimal(text).as_tuple().exponent)))


def find_equations(text: str) -> list[list[str]]:
    """Return the sides of each equation that consists only of numbers."""
    return [found.split(" = ") for found in EQUATION.findall(" ".join(text.split()))]


def convert_to_python(side: str) -> str:
    """Convert one side of an equation to a Python expression."""
    side = re.sub(r"√(\d+(?:\.\d+)?|\([^)]*\))", r"sqrt(\1)", side.replace(",", ""))
    side = re.sub(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda power: f"**{power[1].translate(POWERS)}", side)
    return side.replace("·", "*").replace("−", "-").strip()


def check_sums(text: str) -> int:
    """Return the number of numeric equations in a text. Raises Untrue if the sides of an equation are not equal."""
    found = find_equations(text)
    for sides in found:
        first, *others = map(convert_to_python, sides)
        value = float(eval(first, {"sqrt": math.sqrt}))
        for other in others:
            computed = float(eval(other, {"sqrt": math.sqrt}))
            right = rounds_to(value, other) if FIGURE.fullmatch(other) else math.isclose(value, computed, rel_tol=1e-4)
            if not right:
                raise Untrue(f"{' = '.join(sides)}: the left side is {value}")
    return len(found)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
