"""Helpers for loading weights into a student's module."""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from torchkata import Text

HIDDEN = "its modules are not in state_dict() or parameters(); use an nn.ModuleList"


def load(module: Any, weights: Mapping[str, Tensor]) -> None:
    """Load the given weights. Raises ValueError with the first difference if keys or shapes do not match."""
    own = {key: list(value.shape) for key, value in module.state_dict().items()}
    asked = {key: list(value.shape) for key, value in weights.items()}
    if own.keys() - asked.keys():
        raise ValueError(
            Text("state_dict() has an unexpected key: {keys}", keys=", ".join(sorted(own.keys() - asked.keys())))
        )
    for key, shape in asked.items():
        if own.get(key) != shape:
            raise ValueError(describe_missing(module, key, shape))
    module.load_state_dict(weights)


def load_by_shape(module: Any, weights: Mapping[str, Tensor]) -> None:
    """Load the given weights into those that `find_weights` finds, whatever their keys."""
    asked = {key: list(value.shape) for key, value in weights.items()}
    if asked == {key: list(value.shape) for key, value in module.state_dict().items()}:
        module.load_state_dict(weights)
        return
    with torch.no_grad():
        for p, weight in zip(find_weights(module, asked), weights.values(), strict=True):
            p.copy_(weight)


def find_weights(module: Any, shapes: Mapping[str, Sequence[int]]) -> list[Tensor]:
    """Return the weights in `state_dict` of the given shapes, by key if there are such keys, otherwise in order.

    Only one test is about keys. Raises ValueError if a weight is missing.
    """
    own, found = dict(module.state_dict(keep_vars=True)), []
    if any(key not in own or list(own[key].shape) != [*shape] for key, shape in shapes.items()):
        keys = [*own]
        for key, shape in shapes.items():
            match = next((other for other in keys if list(own[other].shape) == [*shape]), None)
            if match is None:
                raise ValueError(describe_missing(module, key, shape))
            keys.remove(match)
            found.append(own[match])
        return found
    return [own[key] for key in shapes]


def run_converted(module: Any, x: Tensor) -> object:
    """Return the output for `x`, whose dtype the module was converted to.

    Raises TypeError if its dtype is another one, or dtypes that do not match raise an error, and a tensor of the module
    was not converted.
    """
    tensors = {name: value for name, value in vars(module).items() if isinstance(value, Tensor)}
    kept = [name for name, value in tensors.items() if value.is_floating_point() and value.dtype != x.dtype]
    try:
        y = module(x)
    except RuntimeError as error:
        if not kept or not re.search("dtype|scalar type", str(error)):
            raise
    else:
        if not kept or not isinstance(y, Tensor) or y.dtype == x.dtype:
            return y
    raise TypeError(
        Text(
            "self.{name} is neither a parameter nor a buffer, so .to({dtype}) does not convert it",
            name=kept[0],
            dtype=x.dtype,
        )
    )


def describe_missing(module: Any, key: str, shape: Sequence[int]) -> str | Text:
    """Say why a module has no weight with this key and shape."""
    container, own = key.split(".")[0], module.state_dict()
    if "." in key and type(getattr(module, container, None)) in (list, tuple, dict):
        return f"{container} is a plain {type(getattr(module, container)).__name__}: {HIDDEN}"
    if type(find_attribute(module, key)) is Tensor:
        return Text("{name} is a plain tensor: only an nn.Parameter is in state_dict()", name=key)
    if key in own:
        found = list(own[key].shape)
        return Text("{key} has shape {shape}, expected {wanted}", key=key, shape=found, wanted=[*shape])
    return Text("state_dict() has no key {keys}", keys=key)


def find_attribute(module: Any, key: str) -> object:
    """Return the attribute of a module that corresponds to a key of `state_dict`, or None."""
    return reduce(lambda found, name: getattr(found, name, None), key.split("."), module)


def typed_load(model: str, keys: Sequence[str], weights: str = "weights") -> str:
    """Return the line of code that loads a list of weights under the given keys."""
    return f"{model}.load_state_dict({{{', '.join(f'{key!r}: {weights}[{i}]' for i, key in enumerate(keys))}}})"
