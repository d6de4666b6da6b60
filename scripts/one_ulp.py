"""Show that no verdict depends on the last bit of a result: `python -m scripts.one_ulp [--kata NAME] ...`.

The script runs the property tests on the solution and all correct entries of the zoo, and changes each floating-point
result that CPUs may round differently by one unit in the last place (ulp). If a test then rejects code that it usually
accepts, it is too strict: its tolerance must be derived from the dtype and the length of the sums.

Which results are changed:

- Every operation, forward or backward, whose rounding IEEE 754 does not prescribe: matrix products, sums,
  means, norms, `exp`, `log`, `pow`, `tanh` and all others that are not listed below.
- Multiply-add (`add` with `alpha`, `addcmul`, `lerp`): CPUs with a fused instruction round once, others twice.

Which results are not changed:

- Copies, views, indexing, comparisons, random numbers and selections of inputs (`EXACT`), which do not round.
- `+`, `-`, `*`, `/` and the square root (`ROUNDED`): IEEE 754 prescribes the last bit.
- Zero, infinity, NaN, and integer results of integer inputs, which are exact in any order of operations.

The direction is derived from a hash of the operation and the result, so that the same code gives the same results for
the same inputs, as tests of resumed runs require. `--seed` changes the hash and the inputs.
"""

import argparse
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from grader.proof import zoo
from torchkata.course import course
from torchkata.seam.reply import Probe, Reply
from torchkata.seam.student import InProcess
from torchkata.seam.values import Plain

NAMES = """
_local_scalar_dense _reshape_alias _unsafe_view abs alias amax amin argsort as_strided bernoulli cat ceil clamp
clamp_max clamp_min clone constant_pad_nd copysign cummax cummin detach diag_embed diagonal_scatter embedding empty
empty_like empty_permuted empty_strided eye fill flip floor fmod full full_like gather hardtanh heaviside index
index_put index_select kthvalue lift lift_fresh masked_fill masked_select max maximum median min minimum mode
nan_to_num neg new_empty new_empty_strided new_full new_ones new_zeros nextafter normal ones ones_like rand
rand_like randn randn_like random relu repeat repeat_interleave resize roll round scalar_tensor scatter
select_backward select_scatter set sgn sign slice_backward slice_scatter sort squeeze stack t threshold
threshold_backward topk transpose tril triu trunc unfold_backward uniform unsqueeze where zero zeros zeros_like
"""
EXACT = frozenset(NAMES.split())
ROUNDED = {"add", "div", "mul", "reciprocal", "rsub", "sqrt", "sub"}
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
FOREACH = "_foreach_"
CALL_SECONDS = 600.0  # every operation is much slower than usual


class OneUlp(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that changes each result by one ulp if CPUs may round it differently."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seed = seed
        self.moved = 0  # number of operations with moved results

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation, and change its results by one ulp if CPUs may round them differently."""
        whole = all(
            is_whole(value) for value in tensors_in((args, kwargs))
        )  # checked first because the operation may run in place
        results = func(*args, **(kwargs or {}))
        if may_differ(func, args, kwargs or {}):
            salt = zlib.crc32(f"{self.seed} {func.overloadpacket.__name__.rstrip('_')}".encode())
            for result in tensors_in(results):
                move(result, salt, whole=whole)
            self.moved += 1
        return results


def may_differ(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether two CPUs may round the result of an operation differently."""
    if any(value.alias_info and not value.alias_info.is_write for value in func._schema.returns):
        return False  # the result is a view
    name = func.overloadpacket.__name__.removeprefix(FOREACH).rstrip("_")
    if name in EXACT or name.endswith("copy"):
        return False
    scaled = kwargs.get("alpha", 1) != 1 or (name in ("add", "sub") and len(args) > 2 and args[2] != 1)
    return name not in ROUNDED or scaled


def tensors_in(value: object) -> Iterator[Tensor]:
    """Yield the floating-point CPU tensors in nested values."""
    if isinstance(value, Tensor):
        if value.dtype.is_floating_point and value.itemsize in BITS and value.device.type == "cpu":
            yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def is_whole(value: Tensor) -> bool:
    """Return whether all elements are integers."""
    return bool((value == value.trunc()).all())


def move(result: Tensor, salt: int, *, whole: bool) -> None:
    """Change each element by one ulp, in place. If `whole` is True, leave integers unchanged."""
    bits = result.contiguous().view(BITS[result.itemsize]).to(torch.int64)
    mixed = (bits ^ salt) * 0x9E3779B97F4A7C1
    up = (mixed >> 29 & 1).bool()
    moved = (bits + torch.where(up, 1, -1)).to(BITS[result.itemsize]).view(result.dtype)  # a neighbour's bits
    stays = (result == 0) | ~result.isfinite() | ~moved.isfinite()
    if whole:
        stays |= result == result.trunc()
    result.copy_(torch.where(stays, result, moved))


@contextmanager
def perturb_arithmetic(seed: int) -> Iterator[OneUlp]:
    """Change the results of operations by one ulp within probes, but not within the oracle or the comparison."""
    mode, run_probe = OneUlp(seed), InProcess.run_probe

    def run(self: InProcess, probe: Probe, args: Sequence[Plain]) -> Reply:
        self.call_seconds = CALL_SECONDS
        with mode:
            return run_probe(self, probe, args)

    InProcess.run_probe = run  # type: ignore[method-assign]
    try:
        yield mode
    finally:
        InProcess.run_probe = run_probe  # type: ignore[method-assign]


class Outcomes:
    """A pytest plugin that records failed tests and counts passed tests."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.passed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test."""
        if report.failed:
            self.failed.append(report.nodeid.rpartition("::")[2])
        self.passed += report.when == "call" and report.passed


def judge(source: str, kata: str, arguments: Sequence[str], seed: int | None) -> tuple[list[str], str]:
    """Test the solution, with one kata replaced by `source`, in a fork. Return the failed tests and pytest's output.

    If `seed` is None, results are not changed.
    """
    with tempfile.TemporaryDirectory(prefix="torchkata-ulp-") as folder:
        for name, content in course().solutions().items():
            Path(folder, name).write_bytes(content)
        Path(folder, f"{kata}.py").write_text(source, "utf-8")
        report, printed = Path(folder, "report.txt"), Path(folder, "printed.txt")
        pid = os.fork()
        if pid == 0:
            run_tests([f"--impl={folder}", "--kata", kata, *arguments], seed, report, printed)
        os.waitpid(pid, 0)
        failed = report.read_text("utf-8").split() if report.exists() else ["pytest died"]
        return failed, printed.read_text("utf-8", "replace")


def run_tests(arguments: list[str], seed: int | None, report: Path, printed: Path) -> NoReturn:
    """Run pytest in the forked process, write the names of failed tests, and exit."""
    try:
        with printed.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        outcomes = Outcomes()
        with nullcontext() if seed is None else perturb_arithmetic(seed):
            code = pytest.main(["-p", "no:cacheprovider", *arguments], plugins=[outcomes])
        if not (outcomes.passed or outcomes.failed):
            outcomes.failed.append(f"nothing-ran:exit-code-{int(code)}")
        report.write_text("\n".join(outcomes.failed), "utf-8")
    finally:
        sys.stdout.flush()
        os._exit(0)


def main(argv: Sequence[str] | None = None) -> int:
    """Test all implementations, and return 1 if any verdict depends on the last bit, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m scripts.one_ulp", description=__doc__.partition("\n")[0])
    parser.add_argument("--kata", action="append", default=[], metavar="NAME", help="use only this kata (repeatable)")
    parser.add_argument(
        "--examples", type=int, default=25, metavar="N", help="number of inputs per property (default: 25)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed for the inputs and for the changed results")
    options = parser.parse_args(argv)
    arguments = ["--hypothesis-profile=grade", f"--examples={options.examples}", f"--seed={options.seed}"]
    tested = changed = 0
    for kata in course().choose(options.kata, []):
        for entry in (zoo.ZooEntry(kata.name, "solution", "", zoo.read_solution(kata)), *zoo.load_right(kata)):
            tested += 1
            failed, printed = judge(entry.source, kata.name, arguments, options.seed)
            if failed:
                changed += 1
                unmoved, _ = judge(entry.source, kata.name, arguments, None)
                print(f"{kata.name}/{entry.name}: {', '.join(failed)} failed", end="")
                print(f" (unmoved: {', '.join(unmoved) or 'none'})\n{printed}", flush=True)
    print(f"{tested} implementations: {changed} verdicts change when results are moved by one ulp")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
