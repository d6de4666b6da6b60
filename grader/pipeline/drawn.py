"""Random inputs drawn once for all submissions, and kept for the next run.

    who first needs a test's inputs   has Hypothesis draw them, with nobody to answer, and writes them down
    who needs them after that         reads them, which makes new copies

They are the inputs that Hypothesis would draw for each submission, since the seed is the same; when a submission fails
on one of them, Hypothesis itself runs, and finds the same failure.

    FOLDER/<key>/<kata>.<test>   a digest, then the inputs (`grader.pipeline.drawn_format`)

The key is a digest of all that inputs depend on. A file that is damaged, or comes from elsewhere, is drawn anew. No
worker can see the folder where bubblewrap shuts it in. Where it does not, students' code could write to it as this
user: then the folder is this run's own, and a digest with a secret key tells our files from others.
"""

import contextlib
import fcntl
import functools
import hashlib
import inspect
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import HypothesisException

from grader.base.cachedir import cache_dir
from grader.pipeline import drawn_format
from grader.pipeline.drawn_format import Damaged, Unstorable
from grader.results.dependencies import digest_inputs, digest_strategies
from grader.results.result import write_whole
from torchkata.compat.hypothesis_internals import settings_of
from torchkata.course import course
from torchkata.pytest_plugin.first_pass import Input
from torchkata.pytest_plugin.selection import kata_of

PACKAGED = "drawn"  # in the course's folder: what `grader package` has put there
DAY = 86400.0  # seconds
UNUSED = 30 * DAY  # after which what was drawn for other tests or seeds is thrown away
DIGEST_BYTES = 32


class DrawnInputs:
    """An `Inputs` that draws a test's inputs when they are first asked for."""

    def __init__(self, folder: Path, secret: bytes = b"") -> None:
        self.folder = folder
        self.secret = secret

    def of(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """As `torchkata.pytest_plugin.first_pass.Inputs.of`."""
        inputs = self.given(item, seed)
        return None if inputs is None else (Input(given) for given in inputs)

    def given(self, item: pytest.Function, seed: int) -> list[dict[str, Any]] | None:
        """What `@given` passes to this test, input by input; None where that can't be written down."""
        path = path_of(item, seed)
        for read in (self.kept, self.packed_along, partial(self.draw, item, seed)):
            with contextlib.suppress(OSError, Damaged):
                return drawn_format.decode(read(path))
        return None

    def kept(self, path: Path) -> bytes:
        """What an earlier run, or another process of this one, has written. Raises OSError and Damaged."""
        content = self.checked((self.folder / path).read_bytes())
        if time.time() - (self.folder / path.parent).stat().st_mtime > DAY:
            os.utime(self.folder / path.parent)  # so that it is seen to be in use
        return content

    def packed_along(self, path: Path) -> bytes:
        """What this grader was packaged with. Raises OSError and Damaged."""
        packaged = course().root / PACKAGED
        return DrawnInputs(packaged).checked((packaged / path).read_bytes())

    def draw(self, item: pytest.Function, seed: int, path: Path) -> bytes:
        """Draw the inputs and keep them, where they can be written; who comes at the same time waits for them."""
        to = self.folder / path
        with contextlib.suppress(OSError):
            to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(to.with_name(f".{to.name}.lock")):
            with contextlib.suppress(OSError, Damaged):
                return self.kept(path)
            content = drawn_by_hypothesis(item, seed)
            with contextlib.suppress(OSError):
                write_whole(to, self.digest(content) + content)
        return content

    def checked(self, content: bytes) -> bytes:
        """What stands behind the digest. Raises Damaged."""
        digest, inputs = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if not secrets.compare_digest(digest, self.digest(inputs)):
            raise Damaged
        return inputs

    def digest(self, content: bytes) -> bytes:
        """Only who knows the secret can make it, where there is one."""
        return hashlib.blake2b(content, digest_size=DIGEST_BYTES, key=self.secret).digest()


def path_of(item: pytest.Function, seed: int) -> Path:
    """Where in a folder the inputs of a test are."""
    return Path(digest_inputs(seed, settings_of(item.obj).max_examples), f"{kata_of(item.path)}.{item.name}")


@contextlib.contextmanager
def drawn_inputs(*, shut_in: bool) -> Iterator[DrawnInputs]:
    """The inputs for one run: kept for others, where students' code is `shut_in` and can't reach them."""
    digest_strategies()  # before any child is forked, which would read all of them again
    if shut_in:
        clear_unused(kept_in())
        yield DrawnInputs(kept_in())
        return
    with tempfile.TemporaryDirectory(prefix="torchkata-drawn-", ignore_cleanup_errors=True) as name:
        yield DrawnInputs(Path(name), secrets.token_bytes(32))


def kept_in() -> Path:
    """The folder of what is kept from run to run."""
    return cache_dir() / "drawn"


def clear_unused(folder: Path) -> None:
    """Throw away what nobody has used for a month."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if time.time() - path.stat().st_mtime > UNUSED:
                shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; all at once where there are no locks."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def drawn_by_hypothesis(item: pytest.Function, seed: int) -> bytes:
    """The inputs that this test gets as long as nothing fails; `NOTHING` where Hypothesis alone can draw them."""
    hypothesis.seed(seed)(item.obj)
    handle = item.obj.hypothesis
    body: Any = handle.inner_test
    inputs: list[dict[str, Any]] = []
    fixtures: dict[str, Any] = dict.fromkeys(inspect.signature(item.obj).parameters)

    @functools.wraps(body)
    def record(**arguments: Any) -> None:
        inputs.append({name: value for name, value in arguments.items() if name not in fixtures})

    handle.inner_test = record
    try:
        item.obj(**fixtures)
        return drawn_format.encode(inputs)
    except (Unstorable, HypothesisException):
        return drawn_format.NOTHING
    finally:
        handle.inner_test = body
