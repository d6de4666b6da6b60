"""What an optimizer should have made of a course of steps, in float64, and the comparison with what it did."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy import ndarray as Array

from kata.compare import as_float64, assert_close
from kata.values import Plain
from reference.oracle import adagrad, sgd
from reference.oracle import course as oracle
from tests.strategies import Course

Step: TypeAlias = Callable[[Array, Array, Array, float], tuple[Array, Array]]  # (p, memory, grad, lr) → (p, memory)


def sgd_step(p: Array, memory: Array, grad: Array, lr: float) -> tuple[Array, Array]:
    """SGD has no memory."""
    return sgd.step(p, grad, lr), memory


def adagrad_step(p: Array, memory: Array, grad: Array, lr: float) -> tuple[Array, Array]:
    """AdaGrad remembers the sum of squares."""
    return adagrad.step(p, memory, grad, lr)


def met(course: Course, g: int, i: int) -> oracle.Met:
    """What `params[g][i]` meets in every step: a gradient in float64, or None, and a rate."""
    grads = [[[None if x is None else as_float64(x) for x in row] for row in step] for step in course.grads]
    return oracle.met(course.lrs, grads, g, i)


def assert_course(yours: Plain, course: Course, step: Step) -> None:
    """Demand each parameter after each step, within the roundings that so many steps make."""
    dtype = course.params[0][0].dtype
    for g, group in enumerate(course.params):
        for i, start in enumerate(group):
            p = as_float64(start)
            memory, path = np.zeros_like(p), abs(p)
            for t, (grad, lr) in enumerate(met(course, g, i)):
                if grad is not None:
                    before = p
                    p, memory = step(p, memory, grad, lr)
                    path = path + abs(p - before)
                what = f"params[{g}][{i}] after step {t + 1}"
                assert_close(yours[t][g][i], p, dtype=dtype, scale=path, roundings=4 * (t + 2), what=what)


def final_memory(course: Course, step: Step) -> list[list[Array]]:
    """The memory of each parameter after the last step."""
    memories = []
    for g, group in enumerate(course.params):
        row = []
        for i, start in enumerate(group):
            p = as_float64(start)
            memory = np.zeros_like(p)
            for grad, lr in met(course, g, i):
                if grad is not None:
                    p, memory = step(p, memory, grad, lr)
            row.append(memory)
        memories.append(row)
    return memories
