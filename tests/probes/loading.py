"""Helpers for loading weights into a student's module."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

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
    if asked.keys() - own.keys():
        missing = sorted(asked.keys() - own.keys())
        container = missing[0].split(".")[0]
        if type(getattr(module, container, None)) in (list, tuple, dict):
            raise ValueError(f"{container} is a plain {type(getattr(module, container)).__name__}: {HIDDEN}")
        if type(find_attribute(module, missing[0])) is Tensor:
            raise ValueError(Text("{name} is a plain tensor: only an nn.Parameter is in state_dict()", name=missing[0]))
        raise ValueError(Text("state_dict() has no key {keys}", keys=", ".join(missing)))
    for key, shape in asked.items():
        if own[key] != shape:
            raise ValueError(Text("{key} has shape {shape}, expected {wanted}", key=key, shape=own[key], wanted=shape))
    module.load_state_dict(weights)


def find_attribute(module: Any, key: str) -> object:
    """Return the attribute of a module that corresponds to a key of `state_dict`, or None."""
    return reduce(lambda found, name: getattr(found, name, None), key.split("."), module)


def typed_load(model: str, keys: Sequence[str], weights: str = "weights") -> str:
    """Return the line of code that loads a list of weights under the given keys."""
    return f"{model}.load_state_dict({{{', '.join(f'{key!r}: {weights}[{i}]' for i, key in enumerate(keys))}}})"
