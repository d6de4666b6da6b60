"""Runs the examples of stubs with the solution in the stub's place, and computes the sums that texts state.

The comment behind an expression begins with its value, and that behind a statement may have `name = value`; a colon
ends it, and words may follow. Numbers are as exact as written, after "about" to a fifth.

    python -m grader.proof.examples COURSE KATA...     prints a line for each thing that is wrong

An example runs in a process and in a folder of its own, since it may write files and change what it imports.
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
from torchkata.seam.assignment import Assignment

EXAMPLE = re.compile(r"^Example\b.*:\n((?:    .*\n|\n)+)", re.MULTILINE)
CUT_OFF = re.compile(r"(\d\.\d+)\.\.\.")  # 0.829..., whatever comes after
POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = r"(?:\d[\d,]*(?:\.\d+)?(?:e-?\d+)?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*)"
TERM = rf"(?:[-−]?√?(?:{NUMBER}|\([-−+*/·√ \d.,e⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+\)))"
SUM = rf"{TERM}(?: ?(?:\*\*|[-−+*/·]) ?{TERM})*"
EQUATION = re.compile(rf"(?<![-−+*/·] )(?<![-−+*/·√.\w]){SUM}(?: = {SUM})+")
FIGURE = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?<!,)")
ROUNDED = 2e-6  # relative; how far off a computed value may be where it lies between two figures
DOTTED = re.compile(r"\b(?:torch|np|nn)(?:\.[a-zA-Z_]\w*)+")

Names = dict[str, Any]


class Untrue(AssertionError):
    """An example or a sum does not come out; the message says what it is and what it should be."""


def main(root: str, katas: list[str]) -> None:
    """Print what is wrong with the examples and sums of these katas."""
    use(Path(root))
    with tempfile.TemporaryDirectory(prefix="torchkata-examples-") as folder:
        for name, content in course().solutions().items():
            (Path(folder) / name).write_bytes(content)
        (Path(folder) / "written").mkdir()
        os.chdir(Path(folder) / "written")
        for kata in katas:
            for problem in problems_of(kata, Path(folder)):
                print(" ".join(problem.split()))


def problems_of(kata: str, solution: Path) -> Iterator[str]:
    """Yield what is wrong with the examples, sums and names of torch that the texts of a kata have, a line each."""
    stub = f"assignment/{kata}.py"
    source = course().stub(kata).read_text("utf-8")
    try:
        names = names_of(kata, solution)
        if sum([run_example(example, names) for example in examples(source)]) == 0:
            yield f"{stub}: add an example whose comment begins with its value, such as `f(2)    # 4: 2 * 2`"
    except SyntaxError as error:
        text = (error.text or "").strip()
        line = source.count("\n", 0, max(0, source.find(text))) + 1
        yield f"{stub}:{line}: this example does not parse: {text}"
        return
    except Exception as error:
        yield f"{stub}: the example does not run with the solution: {error or type(error).__name__}"
        return
    kata_file, page = f"reference/{kata}/kata.toml", "docs/katas.md"
    texts = [(stub, "\n".join(docstrings(source))), *((kata_file, hint) for hint in course().katas[kata].hints)]
    for place, text in [*texts, (page, find_section(course().katas[kata]))]:
        try:
            assert_sums_come_out(text)
        except Untrue as error:
            yield f"{place}: {error}"
    for place, text in [(stub, source), *texts[1:], (page, find_section(course().katas[kata]))]:
        for name in sorted({*DOTTED.findall(text)}):
            if not is_known(name, names):
                yield f"{place}: there is no {name}"


def is_known(name: str, names: Names) -> bool:
    """Tell whether a dotted name exists; of a package that the course does not use, nothing is known."""
    first, *rest = name.split(".")
    found = names.get(first)
    for part in rest if found is not None else ():
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def names_of(kata: str, solution: Path) -> Names:
    """Return the names of the solution, which is in this folder, and those that an example takes for granted."""
    given: Names = {"np": np, "random": random, "math": math, "sqrt": math.sqrt}
    if "torch" in course().preload:
        torch = import_module("torch")
        torch.manual_seed(0)
        given |= {"torch": torch, "nn": torch.nn, "tensor": torch.tensor}
    return {**given, **vars(getattr(Assignment(solution, "exemplary"), kata))}


def docstrings(source: str) -> list[str]:
    """Return the docstrings of a module, and of its classes and functions."""
    nodes = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def examples(source: str) -> list[str]:
    """Return the code of all examples in the docstrings of a module."""
    blocks = [block for text in docstrings(source) for block in EXAMPLE.findall(f"{text}\n")]
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in blocks]


def remarks(source: str) -> dict[int, str]:
    """Return the comment behind each line; one that goes on alone in the next lines belongs to the first."""
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
    """Return the values that a comment begins with, each with everything that it equals."""
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
    """Run an example, and return how many of its values were compared. Raise Untrue for one that is wrong."""
    statements = ast.parse(source).body
    said, compared = remarks(source), 0
    for node in statements:
        comment = said.get(node.end_lineno or 0, "")
        value = outcome(node, names, comment)
        names |= states_in(names)
        if isinstance(node, ast.Expr) and (value is not None or comment.startswith("None")):
            if comment:
                compared += compare(value, comment, names)
        elif " = " in comment:
            for sides in stated(comment):
                if len(sides) < 2:
                    raise Untrue(f"`{comment}` should be name = value")
                assert_equal(evaluated(sides[0], names), sides[1:], names, comment)
                compared += 1
    return compared


def states_in(names: Names) -> Names:
    """Return what the optimizers among these keep of their parameters, by name: examples speak of it."""
    torch = sys.modules.get("torch")
    optimizers = [one for one in names.values() if torch is not None and isinstance(one, torch.optim.Optimizer)]
    return {name: value for one in optimizers for state in one.state.values() for name, value in state.items()}


def outcome(node: ast.stmt, names: Names, comment: str) -> Any:
    """Return the value of an expression or the class of the error that the comment promises; None for a statement."""
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
    """Return the value of an expression."""
    return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "example", "eval"), names)


def compare(value: Any, comment: str, names: Names) -> int:
    """Compare a value, or each of several, with what the comment begins with, and return how many there are."""
    parts = stated(comment)
    values = value if len(parts) > 1 and isinstance(value, tuple) else (value,)
    if len(values) != len(parts):
        raise Untrue(f"it is {len(values)} values, and should be {comment}")
    for one, sides in zip(values, parts, strict=True):
        assert_equal(one, sides, names, comment)
    return len(parts)


def assert_equal(value: Any, sides: list[ast.expr], names: Names, comment: str) -> None:
    """Raise Untrue if a value is not everything that it is said to be."""
    for side in sides:
        if not agrees(value, side, names):
            raise Untrue(f"it is {value}, and should be {comment}")


def agrees(value: Any, said: ast.expr, names: Names) -> bool:
    """Tell whether a value is what is written: items one by one, a number as exactly as it is written."""
    if hasattr(value, "tolist"):  # a tensor, an array
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
    expected = expected.item() if hasattr(expected, "item") else expected
    return math.isclose(value, expected, rel_tol=1e-4, abs_tol=1e-6) if is_sum(said) else as_written(value, said)


def is_sum(said: ast.expr) -> bool:
    """Tell whether something is computed there, as in `8 - 1`."""
    return not isinstance(said.operand if isinstance(said, ast.UnaryOp) else said, ast.Constant)


def as_written(value: float, said: ast.expr) -> bool:
    """Tell whether a number rounds to what is written; of one or two digits, all are meant."""
    text = ast.unparse(said).replace(" ", "")
    number, digits = float(text), len(Decimal(text).normalize().as_tuple().digits)
    if isinstance(value, int) or digits < 3:
        return math.isclose(value, number, rel_tol=1e-5, abs_tol=1e-6) and (isinstance(value, float) or value == number)
    return rounds_to(value, text)


def rounds_to(value: float, figure: str) -> bool:
    """Return whether a computed value rounds to a figure that an author has written, or nearly does.

    Which digits a computation ends with depends on the processor.
    """
    return abs(value - float(figure)) <= 0.5 * unit(figure) + ROUNDED * abs(value)


def unit(text: str) -> float:
    """Return what 1 in the last written digit of a number amounts to."""
    return float(Decimal(1).scaleb(int(Decimal(text).as_tuple().exponent)))


def equations(text: str) -> list[list[str]]:
    """Return the sides of each equation between numbers alone."""
    return [found.split(" = ") for found in EQUATION.findall(" ".join(text.split()))]


def in_python(side: str) -> str:
    """Return a side as Python computes it."""
    side = re.sub(r"√(\d+(?:\.\d+)?|\([^)]*\))", r"sqrt(\1)", side.replace(",", ""))
    side = re.sub(r"([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda power: f"**{power[1].translate(POWERS)}", side)
    return side.replace("·", "*").replace("−", "-").strip()


def assert_sums_come_out(text: str) -> int:
    """Raise Untrue for an equation whose sides differ, as exactly as they are written; return how many there are."""
    found = equations(text)
    for sides in found:
        first, *others = map(in_python, sides)
        value = float(eval(first, {"sqrt": math.sqrt}))
        for other in others:
            computed = float(eval(other, {"sqrt": math.sqrt}))
            right = rounds_to(value, other) if FIGURE.fullmatch(other) else math.isclose(value, computed, rel_tol=1e-4)
            if not right:
                raise Untrue(f"{' = '.join(sides)}: it is {value}")
    return len(found)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
