"""Explains common exceptions of torch, NumPy and Python whose messages are hard for beginners to understand."""

import re
import tempfile

from torchkata.course import course
from torchkata.inside.process_limits import DEFAULT
from torchkata.inside.reply import AT_IMPORT, LACKS_STATE
from torchkata.inside.source.differences import DIFFERENCES, find_key
from torchkata.inside.text import Message, Text
from torchkata.seam.failures import Crashed

NO_RETURN = Text("nothing is returned: is a `return` missing?")
LEAF = r"a leaf Variable that requires grad is being used in an in-place|a view of a leaf Variable that requires"
TEMPORARY = re.escape(tempfile.gettempdir())  # there, the tests create folders, and files do not differ in the grader
NO_FILE = rf"^FileNotFoundError: (?:.*: '(?!{TEMPORARY}(?!\S*/assignment/))(.+?)'|(\S+) not found)"
NO_PACKAGE = r"^ModuleNotFoundError: No module named '\w+'\n"
PATTERNS: dict[str, Text] = {  # explanations, by a pattern in the error message or in the line that raised the error
    r"DefaultCPUAllocator|MemoryError|Storage size calculation overflowed": Text(
        "out of memory: a tensor or array is far too large (the grader allows {memory} MiB)"
    ),
    r"^RecursionError": Text(
        "a function calls itself without end, or too often (Python allows {default} nested calls): use a loop"
    ),
    r"does not require grad and does not have a grad_fn": Text(
        "there is no graph to backpropagate through: autograd is off (under inference_mode also inside "
        "enable_grad), no tensor requires grad, or the graph was detached"
    ),
    LEAF: Text("a tensor that requires grad is modified in place outside `with torch.no_grad():`"),
    r"index 9223372036854775807 is out of bounds": Text(
        "an index is read from uninitialized memory, for example from torch.empty (the tests fill "
        "it with the largest integer)"
    ),
    r"Only Tensors created explicitly by the user .* support the deepcopy": Text(
        "a tensor in the optimizer state is still attached to the autograd graph: compute it "
        "inside `with torch.no_grad():`"
    ),
    r"is a plain tensor: only an nn\.Parameter": Text(
        "a weight is a plain tensor, which state_dict() does not contain: assign an nn.Parameter (a result "
        "computed with one is a plain tensor)"
    ),
    r"modified by an inplace operation": Text("a tensor that the backward pass still needs was modified in place"),
    r"Trying to backward through the graph a second time": Text(
        "backward() runs through the same graph a second time, but the graph was freed by an earlier backward pass"
    ),
    r"grad can be implicitly created only for scalar outputs": Text(
        "backward() can be called only on a scalar: is a mean or a sum missing?"
    ),
    r"cannot assign \w+ before Module\.__init__\(\) call|^AttributeError: '[A-Z]\w*' object has no attribute "
    r"'(_modules|_parameters|_buffers|_\w+_hooks|param_groups|defaults|state)'": Text(
        "__init__ must call super().__init__(…) first"
    ),
    rf"^KeyError: .*({re.escape(LACKS_STATE)}\n|\n.*\bself\.state\[)": Text(
        "self.state[p] has no such key: create the state of a parameter in its first step(), because "
        "add_param_group() can add parameters after __init__()"
    ),
    r"^TypeError: \w+\.\w+\(\) takes (0 positional arguments but 1|1 positional argument but 2|"
    r"2 positional arguments but 3|3 positional arguments but 4) w|__init__\(\) got multiple values for argument": Text(
        "the arguments of a method do not match its parameters: is `self`, the first one, missing?"
    ),
    r"^TypeError: .*\(\) takes 0 positional arguments but \d": Text(
        "a function with keyword-only arguments is called with positional arguments: write f(x=x)"
    ),
    r"^TypeError: randint\(\)(: argument 'size' .* must be tuple| .* got \((?![^)]*tuple))": Text(
        "the size passed to randint must be a tuple: (n,) for n numbers"
    ),
    r"Cannot access accelerator device|Cannot pin|^RuntimeError: .*[Pp]in(ned)?[ _]memory": Text(
        "pinned memory requires a GPU: call pin_memory() only if the device is a CUDA device"
    ),
    r"not compiled with CUDA|No CUDA GPUs|Found no NVIDIA driver|support for mps devices|from the 'MPS' backend": Text(
        "a device (cuda or mps) is used that is not available here: use the device of the inputs, x.device"
    ),
    r"cannot set number of interop threads|context has already been set|single TORCH_LIBRARY can be used": Text(
        "this works only once in a process, and the tests import your file and call your code many times: remove it"
    ),
    r"expects a non-empty TensorList|expected a non-empty list of Tensors|need at least one array to": Text(
        "torch.stack or torch.cat was called with an empty list"
    ),
    r"unsupported ScalarType": Text("a tensor is converted to a NumPy array, but NumPy does not support its dtype"),
    r"Can't call numpy\(\) on Tensor that requires grad": Text(
        "a tensor that requires grad is converted to a NumPy array, but NumPy cannot track gradients"
    ),
    r"cannot reshape tensor of 0 elements": Text(
        "a size of -1 cannot be inferred if another size is 0: give all sizes explicitly"
    ),
    r"^IndexError: index -?\d+ is out of range\n": Text(
        "an nn.ModuleList or nn.Sequential has no element at this index: it may be empty"
    ),
    r"einsum\(\): the number of subscripts in the equation \(\d+\) is more than the number of dimensions": Text(
        "the equation of einsum names more dimensions than the tensor has: an input may have no leading dimension"
    ),
    r"Expected size for first two dimensions of batch2 tensor.*\n.*(\.T\b|transpose\((0, ?1|1, ?0)\))": Text(
        "with leading dimensions, `.T` and transpose(0, 1) do not exchange the last two dimensions: use `.mT`"
    ),
    r"expects a tensor with <= 2 dimensions, but|(self|mat1|mat2) must be a matrix|batch[12] must be a 3D": Text(
        "the function called here accepts only tensors with another number of dimensions: `@` and `.mT` accept any "
        "leading dimensions"
    ),
    r"^IndexError: Dimension out of range \(expected to be in range of \[-1, 0\]": Text(
        "the tensor is a vector or a single number, which has no dimension other than 0 (also called -1)"
    ),
    r"view size is not compatible": Text(
        "view() cannot produce this shape: the elements are not in that order in memory"
    ),
    r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got input": Text(
        "the inner dimensions of a matrix multiplication do not match"
    ),
    r"probability tensor contains either": Text(
        "the probabilities for torch.multinomial are NaN, infinite or negative: was something divided by 0?"
    ),
    r"Expected target size|Expected input batch_size .* to match target batch_size": Text(
        "cross_entropy expects the classes in dimension 1 of its input, and one target for each prediction: "
        "flatten all dimensions before the classes, and the targets"
    ),
    r"optimize a non-leaf Tensor": Text("the optimizer was passed the result of a computation instead of a Parameter"),
    r"^UnboundLocalError": Text("a variable is used before it is assigned, for example because a loop ran zero times"),
    r"unsupported operand type\(s\) for .*'NoneType'|^AttributeError: 'NoneType' object has no|"
    r"must be Tensor, not NoneType": Text(
        "None is used where a tensor is expected, for example the .grad of a parameter that has no gradient"
    ),
    r"Seed must be between 0 and 2\*\*32 - 1": Text("the NumPy seed must be between 0 and 2**32 - 1"),
    r"^NameError: name '(exit|quit)' is not defined": Text(
        "exit() and quit() exist only in an interactive Python: remove the call"
    ),
    r"^EOFError: EOF when reading a line|reading from stdin while output is captured": Text(
        "nobody can type into the tests: take the value as an argument, or put input() under `if "
        '__name__ == "__main__":`'
    ),
    r"^(ModuleNotFoundError: No module named|ImportError: cannot import name .* from) "
    r"'(torchkata|tests|reference)\b": Text(
        "this module belongs to the course, and the grader has no copy of it for your code: write what you need "
        "in your own file"
    ),
    r"^ImportError: cannot import name '\w+' from 'assignment' \(unknown location\)": Text(
        "the folder has no module of this name, and its __init__.py never runs: put the code into a .py file of its "
        "own, and import it from there"
    ),
    NO_FILE: Text(
        "the grader has only the .py files of your zip file, so {file} does not exist there: put what your code reads "
        "into one of them, and let it create the folders in which it writes"
    ),
    NO_PACKAGE: Text("this package is not installed here; use only packages of the course: {packages}"),
    r"^TypeError: \w+\(\): argument 'input' \(position 1\) must be Tensor, not (int|float)": Text(
        "a function of torch is called with a number instead of a tensor: for numbers, use those of math, "
        "or x**0.5 for a root"
    ),
    r"Weights only load failed\. This file can still be loaded": Text(
        "the file contains more than tensors, numbers, strings, lists and dicts, such as a whole model: "
        "save its state_dict()"
    ),
    r"PytorchStreamReader failed|WeightsUnpickler error: +Unsupported operand": Text(
        "what torch.load reads is not one complete result of torch.save: save one dict with a single torch.save"
    ),
    r"^AttributeError: 'float' object has no attribute '(get|items|keys|setdefault)'": Text(
        "a number is used as a dict: pass the defaults of an optimizer as a dict, such as dict(lr=lr)"
    ),
    r"Boolean value of Tensor with more than one value is ambiguous": Text(
        "a tensor with several elements is used as a condition: write `is None` or `is not None`, "
        "or use .any() or .all()"
    ),
    r"descriptor '__init__' of 'super' object needs an argument": Text(
        "super is not called: write super(), with parentheses"
    ),
    r"contains duplicate dimension": Text(
        "the rearrange, reduce and repeat of einops accept each name only once per side "
        "(its einsum accepts repeated names)"
    ),
    r"The size of tensor a .* must match .*\n(?!.*keepdim).*\b(amax|mean|norm|std|sum|var)\(": Text(
        "two shapes do not match, and one of them may have lost a dimension: is keepdim=True missing?"
    ),
    r"too large to convert to C|int too big to convert|out of bounds for u?int|Overflow when unpacking": Text(
        "a number is too large for a fixed-width integer (Python's own int has no limit)"
    ),
}

REFUSED = re.compile(r" \(in ([\w.]+)\)$")  # what refused a call, as added by `make_reply`
METHOD = re.compile(r"\.([a-z]\w*)_\(")  # a method that changes its tensor in place


def explain_crash(crash: Crashed) -> Message:
    """Return the explanation of an exception, or "" if there is no explanation for it."""
    if not crash.place.file and "NoneType" in crash.error:  # a test or probe tried to use the returned value
        return NO_RETURN
    if key := find_difference(crash.error):
        return DIFFERENCES[key]
    text = f"{crash.error}\n{crash.place.source}"
    pattern, match = next(((one, match) for one in PATTERNS if (match := re.search(one, text))), ("", None))
    if pattern == LEAF and (found := METHOD.search(crash.place.source)):
        return Text(
            "`{method}` changes a tensor that requires grad in place: use `{plain}`, or for the "
            "update of a parameter `with torch.no_grad():`",
            method=f"{found[1]}_()",
            plain=f"{found[1]}()",
        )
    values = {"packages": ", ".join(course().packages), "memory": course().limits.memory_mib}
    values["default"] = DEFAULT
    if pattern == NO_FILE and match:
        values["file"] = match[1] or match[2]
    return Text(PATTERNS[pattern].english, **values) if pattern else ""


def find_difference(error: str) -> str:
    """Return the key of the difference between the student's machine and the grader that caused an error, or ""."""
    if "getpwuid(): uid not found" in error or "No username set in the environment" in error:  # since Python 3.13
        return "user_name"
    if error.startswith("SystemExit") and error.endswith(AT_IMPORT):
        return "at_import"
    if error.startswith("BdbQuit"):
        return "debugger"
    if error.startswith("NameError: name 'get_ipython'"):
        return "notebook"
    if "unable to open shared memory object" in error:
        return "processes"
    refused = REFUSED.search(error)
    return find_key(refused[1]) if refused else ""
