"""A function that returns nothing is named, first and alone, in every kata."""

import ast
import copy
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.conftest import run
from grader.tests.support.solution import SOLUTION
from grader.tests.support.submissions import write_assignment
from torchkata.course import course
from torchkata.diagnosis.missing_return import promises_value


class ReturnDropper(ast.NodeTransformer):
    """Computes each returned value, but returns None. Inner functions are left unchanged."""

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [ast.Expr(node.value), ast.Return(None)] if node.value else [node]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def list_programs(kata: str) -> Iterator[tuple[str, str]]:
    """Yield each function that promises a value, with the solution in which it returns nothing."""
    tree = ast.parse((SOLUTION / f"{kata}.py").read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", tree.body), *((f"{node.name}.", node.body) for node in classes)]:
        for place, function in enumerate(body):
            if isinstance(function, ast.FunctionDef) and promises_value(kata, prefix + function.name):
                changed = ast.Module(copy.deepcopy(function.body), [])
                body[place] = ast.FunctionDef(function.name, function.args, ReturnDropper().visit(changed).body, [])
                yield function.name, ast.unparse(ast.fix_missing_locations(tree))
                body[place] = function


@pytest.mark.parametrize("kata", [kata for kata in course().katas if [*list_programs(kata)]])
def test_missing_return_is_named_first_and_alone(kata: str, tmp_path: Path) -> None:
    for function, source in list_programs(kata):
        folder = write_assignment(tmp_path / function, **{kata: source})
        printed = run("pytest", f"--impl={folder}", "--kata", kata, "--examples", "2", "--seed", "1").out
        blocks = [block for block in printed.split("\n\n") if block.startswith(f"{kata} · ")]
        assert len(blocks) == 1, printed
        assert f"looks like: nothing is returned: is a `return` missing in `{function}`?" in blocks[0]
