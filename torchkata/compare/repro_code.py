"""Generates Python code that reproduces a call of the student's code: it assigns the arguments and makes the call."""

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from torchkata.i18n import _
from torchkata.inside import probes
from torchkata.inside.values import Opaque, Plain, is_array, is_tensor
from torchkata.seam.student import Call

from .show import MAX_WIDTH, count_elements, describe_type, format_dtype

FEW = (64, 24, 6, 1)  # number of tensor elements to write out; the first value that fits into `MAX_LINES` lines is used
MAX_LINES = 30
REPEATED = 4  # longer lists of equal items are written as `[item] * length`
DEFAULT_DTYPES = ("float32", "int64", "bool")
TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|.")  # a quoted string or a single character


def render_call(call: Call, asked: str = "", width: int = MAX_WIDTH) -> list[str]:
    """Return the lines that assign the arguments and make the call. `asked` replaces the code of the call."""
    arguments = call.arguments()
    for few in FEW:
        code = asked or render_probe(call, partial(literal, few=few))
        used = find_names_read(code) if code else set(call.inputs())
        given = {name: value for name, value in arguments.items() if name in used}
        broken = [part for line in code.splitlines() for part in break_line(line, width)]
        lines = [*render_assignments(given, few, width), *broken]
        if len(lines) <= MAX_LINES:
            break
    whole = "; ".join(lines)
    lines = [whole] if len(whole) <= width and is_simple(code) else lines
    too_large = any(count > few for value in arguments.values() for count in iter_sizes(value))
    if too_large and "rand" in whole:
        lines.append("# " + _("random stand-ins for the test's own data, which is too large to show"))
    return lines


def render_probe(call: Call, literal: Callable[[Plain], str]) -> str:
    """Return the code that a student would type instead of calling a probe, or "" if the probe has no such code."""
    given = call.arguments()
    if call.probe is probes.call:
        names = list(given) if all(map(str.isidentifier, given)) else map(literal, given.values())
        return f"{call.args[1]}({', '.join(names)})"
    code: probes.Code = getattr(call.probe, "typed", "")
    if isinstance(code, str):
        return code
    known = {**given, "literal": literal}
    try:
        return code(**{name: known[name] for name in inspect.signature(code).parameters if name in known})
    except Exception:  # the student's code may have patched torch or modified the arguments
        return ""


def find_names_read(code: str) -> set[str]:
    """Return the names that the code reads before assigning them."""
    used: set[str] = set()
    known: set[str] = set()
    for statement in ast.parse(code).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        used |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - known
        known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return used


def is_simple(code: str) -> bool:
    """Return whether the code can be joined with other statements on one line, separated by semicolons."""
    return all(isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) for node in ast.parse(code).body)


def render_assignments(given: Mapping[str, Plain], few: int, width: int) -> Iterator[str]:
    """Yield assignments of the values to their names, combining short assignments on one line."""
    line = ""
    for name, value in given.items():
        first, *others = break_line(f"{name} = {literal(value, few)}", width)
        if line and (others or count_elements(value) or len(line) + len(first) + 2 > width):
            yield line
            line = ""
        line = f"{line}; {first}" if line else first
        if others or count_elements(value):
            yield from (line, *others)
            line = ""
    if line:
        yield line


def literal(value: Plain, few: int = FEW[0]) -> str:
    """Return Python code for a plain value. A large tensor or array is replaced by random numbers of the same kind.

    Args:
        value: The value.
        few: The maximum number of elements for which a tensor or array is written out.

    Example:
        literal(torch.tensor([0.5]))    # "torch.tensor([0.5])"
    """
    if is_tensor(value):
        return render_tensor(value, few)
    if is_array(value):
        return render_array(value, few)
    if isinstance(value, (list, tuple)):
        items = [literal(item, few) for item in value]
        if len(items) > REPEATED and len({*items}) == 1 and isinstance(value, list):
            return f"[{items[0]}] * {len(items)}"
        inner = ", ".join(items)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item, few)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return describe_type(value) if isinstance(value, Opaque) else repr(value)


def render_tensor(value: Any, few: int) -> str:
    """Return code such as `torch.tensor([[1.0, 2.0]])`, or a shorter expression such as `torch.arange(6.)`."""
    name, shape = format_dtype(value), list(value.shape)
    dtype = "" if name in DEFAULT_DTYPES else f", dtype=torch.{name}"
    flat = value.flatten().tolist()
    count = len(flat)
    axes = ", ".join(map(str, shape)) or "()"
    if not count:
        return f"torch.zeros({axes}{dtype or (', dtype=torch.' + name if name != 'float32' else '')})"
    if count > 1 and flat[0] in (0, 1) and all(each == flat[0] for each in flat):
        dtype = "" if name == "float32" else f", dtype=torch.{name}"
        return f"torch.{'ones' if flat[0] else 'zeros'}({axes}{dtype})"
    is_counting = count > 2 and name != "bool" and flat[-1] - flat[0] == count - 1  # 1e20 + 1 is 1e20
    if is_counting and all(each == flat[0] + place for place, each in enumerate(flat)):
        first, end = [f"{x:.0f}" + "." * (name == "float32") for x in (flat[0], flat[0] + count)]
        made = f"torch.arange({first}, {end}{dtype})" if flat[0] else f"torch.arange({end}{dtype})"
        return made if len(shape) == 1 else f"{made}.reshape({axes})"
    if count <= few:
        return f"torch.tensor({render_elements(value, name)}{dtype})"
    if value.dtype.is_floating_point:
        return f"{render_factor(flat)}torch.randn({axes}{dtype})"
    dtype = ", dtype=torch.bool" if name == "bool" else dtype
    return f"torch.randint({min(flat):d}, {max(flat) + 1}, {tuple(shape)}{dtype})"


def render_array(value: Any, few: int) -> str:
    """Return code such as `np.array([1, 2], dtype=np.uint16)`, or random numbers for a large array."""
    name, shape = format_dtype(value), list(value.shape)
    flat = value.flatten().tolist()
    if not flat:
        return f"np.zeros({shape}, dtype=np.{name})"
    if len(flat) <= few:
        dtype = "" if name in ("float64", "int64", "bool") else f", dtype=np.{name}"
        return f"np.array({render_elements(value, name)}{dtype})"
    cast = "" if name in ("float64", "int64") else f".astype(np.{name})"
    if value.dtype.kind == "f":
        return f"{render_factor(flat)}np.random.standard_normal({shape}){cast}"
    if sorted(flat) == list(range(min(flat), min(flat) + len(flat))) and len(shape) == 1:
        shuffled = f"np.random.permutation({len(flat)}) + {min(flat)}"
        return f"({shuffled}){cast}" if cast else shuffled
    return f"np.random.randint({min(flat):d}, {max(flat) + 1}, {shape}){cast}"


def render_factor(numbers: Sequence[float]) -> str:
    """Return the factor that makes random numbers about as large as the given ones, or "" if it is about 1."""
    size = math.sqrt(sum(x * x for x in numbers) / len(numbers))
    return f"{float(f'{size:.1g}'):g} * " if math.isfinite(size) and size and not 1 / 3 < size < 3 else ""


def render_elements(value: Any, dtype: str) -> str:
    """Return the elements in nested brackets, using the fewest digits that round to the same values."""
    if value.ndim:
        return f"[{', '.join(render_elements(part, dtype) for part in value)}]"
    number = value.item()
    if not isinstance(number, float):
        return str(number)
    if not math.isfinite(number):
        return f'float("{number}")'
    shorter = (float(f"{number:.{digits}g}") for digits in range(1, 17))
    rounded = value.new_tensor if is_tensor(value) else value.dtype.type
    return repr(next((short for short in shorter if rounded(short).item() == number), number))


def iter_sizes(value: Plain) -> Iterator[int]:
    """Yield the number of elements of each tensor or array in (nested) lists and dicts."""
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from iter_sizes(item)
    else:
        yield count_elements(value)


def break_line(line: str, width: int, before: str = "", after: str = "") -> list[str]:
    """Break `before + line + after` at commas in the longest bracket of `line` until each part fits into the width."""
    group = find_longest_bracket(line)
    if len(before + line + after) <= width or group is None:
        return [before + line + after]
    begin, end = group
    lines, indent = [before + line[: begin + 1]], " " * len(before + line[: begin + 1])
    items = split_items(line[begin + 1 : end])
    for place, item in enumerate(items):
        last = "," if place < len(items) - 1 else line[end:] + after
        if place and (len(f"{lines[-1]} {item}{last}") > width or "(" in item or "[" in item):
            lines += break_line(item, width, indent, last)
        elif place:
            lines[-1] += f" {item}{last}"
        else:
            lines[-1:] = break_line(item, width, lines[-1], last)
    return lines


def find_longest_bracket(text: str) -> tuple[int, int] | None:
    """Return the positions at which the longest non-empty top-level bracket opens and closes."""
    found, depth, begin, place = [], 0, 0, 0
    for token in TOKEN.findall(text):
        if token in "([{":
            begin, depth = (begin if depth else place), depth + 1
        elif token in ")]}":
            depth -= 1
            found += [(begin, place)] * (not depth)
        place += len(token)
    return max((pair for pair in found if pair[1] - pair[0] > 1), key=lambda pair: pair[1] - pair[0], default=None)


def split_items(text: str) -> list[str]:
    """Split the contents of a bracket at the top-level commas."""
    items, depth = [""], 0
    for token in TOKEN.findall(text):
        depth += (token in "([{") - (token in ")]}")
        if token == "," and not depth:
            items.append("")
        else:
            items[-1] += token
    return [item.strip() for item in items if item.strip()]
