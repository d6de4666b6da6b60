"""What torch's own optimizers make of a course, in float64 and in the process of the tests."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tests.probes import optimizers
from tests.strategies import Course
from torchkata.lean import skip_dynamo_import


def in_float64(course: Course) -> Course:
    """The same course, in wider numbers."""
    params = [[p.double() for p in group] for group in course.params]
    grads = [[[None if grad is None else grad.double() for grad in group] for group in step] for step in course.grads]
    return replace(course, params=params, grads=grads)


def course_of(make: Callable[..., Any] | None, course: Course) -> list[list[list[Tensor]]]:
    """The parameters after every step of torch's own optimizer, `make(groups, lr=…)`.

    Its `step` is the one below torch's wrappers, which import the compiler and turn autograd off.
    """
    skip_dynamo_import()
    course = in_float64(course)
    optimizer = optimizers.build(make, course.params, course.lrs[0], course.options)
    optimizer.step = partial(torch.no_grad()(inspect.unwrap(type(optimizer).step)), optimizer)
    return optimizers.walk(optimizer, course.lrs, course.grads)
