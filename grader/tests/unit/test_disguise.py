"""Disguised programs differ in text and bytecode from class to class, and do the same."""

import random
from types import CodeType, ModuleType
from typing import Any

import pytest

from tests.disguise import disguise
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.course.load import read_toml

CONTRACTS = {"break_sgd": "SGD", "break_get_batch": "get_batch", "break_time_matmul": "time_matmul"}
PROGRAM = '''
"""A program."""
import math

SCALE = 2

def helper(x, *, factor=1):
    """Scale x."""
    scaled = [factor * y for y in x]
    return scaled

def unused(y: int = 3) -> int:
    return y

class Kept:
    """A class."""

    size = 3

    def __init__(self, start):
        self.start = start

    def run(self, data, step=1):
        """Return a list."""
        total = SCALE * self.start + self.size
        inner = lambda value: value + total
        try:
            return [inner(each) for each in helper(data, factor=step)]
        except ValueError as error:
            raise RuntimeError from error
'''


def list_programs(kata: str) -> list[str]:
    tables = read_toml(course().folder(kata) / HIDDEN_PROGRAMS)
    found = [*tables["right"].values(), *(one for group in tables["wrong"].values() for one in group.values())]
    return [one["source"] for one in found]


def list_operations(code: CodeType) -> list[object]:
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    numbers = [one for one in code.co_consts if isinstance(one, int)]
    return [code.co_code, numbers, *(part for one in inner for part in list_operations(one))]


def run(source: str) -> Any:
    module = ModuleType("program")
    exec(compile(source, "<program>", "exec"), vars(module))
    return module


def test_disguised_program_does_the_same() -> None:
    for seed in range(50):
        program = run(disguise(PROGRAM, "Kept", random.Random(seed)))
        assert program.Kept(5).run(data=[1, 2], step=3) == [16, 19]
        assert program.Kept.size == 3
        assert program.Kept.__doc__ is program.__doc__ is None
        assert not {"SCALE", "unused", "helper"} & vars(program).keys()


@pytest.mark.parametrize("kata", CONTRACTS)
def test_each_class_has_other_programs(kata: str) -> None:
    for source in list_programs(kata):
        versions = [disguise(source, CONTRACTS[kata], random.Random(secret)) for secret in (1, 1, 2)]
        codes = [list_operations(compile(text, "", "exec")) for text in (source, *versions)]
        assert versions[0] == versions[1] != versions[2]
        assert codes[0] != codes[1] == codes[2] != codes[3]
