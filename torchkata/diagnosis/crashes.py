"""Explains common exceptions of torch, NumPy and Python whose messages are hard for beginners to understand."""

import re

from torchkata.course import course
from torchkata.i18n import words
from torchkata.inside.reply import AT_IMPORT, LACKS_STATE
from torchkata.inside.source.differences import find_key
from torchkata.seam.failures import Crashed

PATTERNS: dict[
    str, str
] = {  # maps a pattern in the error message, or in the line that raised the error, to the key of the explanation
    r"DefaultCPUAllocator|MemoryError|Storage size calculation overflowed": "memory",
    r"does not require grad and does not have a grad_fn": "no_graph",
    r"a leaf Variable that requires grad is being used in an in-place|a view of a leaf Variable that requires": "leaf",
    r"index 9223372036854775807 is out of bounds": "uninitialized",
    r"Only Tensors created explicitly by the user .* support the deepcopy": "graph_kept",
    r"is a plain tensor: only an nn\.Parameter": "plain_tensor",
    r"modified by an inplace operation": "in_place",
    r"Trying to backward through the graph a second time": "second_time",
    r"grad can be implicitly created only for scalar outputs": "no_scalar",
    r"cannot assign \w+ before Module\.__init__\(\) call|^AttributeError: '[A-Z]\w*' object has no attribute "
    r"'(_modules|_parameters|_buffers|_\w+_hooks|param_groups|defaults|state)'": "base_class",
    rf"^KeyError: .*({re.escape(LACKS_STATE)}\n|\n.*\bstate\b)": "empty_state",
    r"^TypeError: .*\(\) takes 0 positional arguments but \d": "by_name",
    r"^TypeError: randint\(\)(: argument 'size' .* must be tuple| .* got \((?![^)]*tuple))": "size",
    r"Cannot access accelerator device|Cannot pin|^RuntimeError: .*[Pp]in(ned)?[ _]memory": "pinned",
    r"not compiled with CUDA|No CUDA GPUs|Found no NVIDIA driver": "cuda",
    r"expects a non-empty TensorList|expected a non-empty list of Tensors|need at least one array to": "no_tensors",
    r"unsupported ScalarType": "numpy_dtype",
    r"Can't call numpy\(\) on Tensor that requires grad": "numpy_graph",
    r"cannot reshape tensor of 0 elements": "no_elements",
    r"view size is not compatible": "view",
    r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got input": "product",
    r"optimize a non-leaf Tensor": "not_a_leaf",
    r"^UnboundLocalError": "unbound",
    r"unsupported operand type\(s\) for .*'NoneType'|^AttributeError: 'NoneType' object has no": "none",
    r"Seed must be between 0 and 2\*\*32 - 1": "numpy_seed",
    r"^NameError: name '(exit|quit)' is not defined": "exit",
    r"^EOFError: EOF when reading a line|reading from stdin while output is captured": "input",
    r"^ModuleNotFoundError: No module named '\w+'\n": "no_package",
    r"too large to convert to C|int too big to convert|out of bounds for u?int|Overflow when unpacking": "too_large",
}

REFUSED = re.compile(r" \(in ([\w.]+)\)$")  # what refused a call, as added by `make_reply`
METHOD = re.compile(r"\.([a-z]\w*)_\(")  # a method that changes its tensor in place


def explain_crash(crash: Crashed) -> str:
    """Return the explanation of an exception, or "" if there is no explanation for it."""
    if not crash.place.file and "NoneType" in crash.error:  # a test or probe tried to use the returned value
        return words("crash.no_return")
    if key := find_difference(crash.error):
        return words(f"differs.{key}")
    text = f"{crash.error}\n{crash.place.source}"
    key = next((key for pattern, key in PATTERNS.items() if re.search(pattern, text)), "")
    if key == "leaf" and (found := METHOD.search(crash.place.source)):
        return words("crash.leaf_method", method=f"{found[1]}_()", plain=f"{found[1]}()")
    if key == "no_package":
        return words("crash.no_package", packages=", ".join(course().packages))
    return words(f"crash.{key}") if key else ""


def find_difference(error: str) -> str:
    """Return the key of the difference between the student's machine and the grader that caused an error, or ""."""
    if "getpwuid(): uid not found" in error or "No username set in the environment" in error:  # since Python 3.13
        return "user_name"
    if error.startswith("SystemExit") and error.endswith(AT_IMPORT):
        return "at_import"
    if "unable to open shared memory object" in error:
        return "processes"
    refused = REFUSED.search(error)
    return find_key(refused[1]) if refused else ""
