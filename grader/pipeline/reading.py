"""Reads a submission of any kind: a directory, a zip, a tar, a single file or loose files.

All kinds are presented as a tree, `walk` looks through it, and `choice` decides what of it is graded.
"""

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from grader.pipeline.archives import MAX_ARCHIVE, Budget, VirtualFolder, is_archive, open_archive
from grader.pipeline.choice import search
from grader.pipeline.submission import Submission
from grader.pipeline.submission_ids import identify
from grader.pipeline.trees import Directory, SubmissionError, Tree, open_safely, read_open_file
from grader.pipeline.walk import explain


def read_submission(path: Path, loose: Sequence[tuple[str, Path]] = ()) -> Submission:
    """Read a submission of any kind. If `loose` files are given, the submission consists of only these files.

    Raises SubmissionError if it can't be read. No other error is raised.
    """
    try:
        if loose:
            return search(gather(loose), identify(path))
        with open_safely(path) as handed_in:
            return search(open_tree(handed_in, path.name), identify(path))
    except SubmissionError:
        raise
    except FileNotFoundError:
        raise SubmissionError("no such file or directory") from None
    except Exception as error:  # zipfile, tarfile and zlib raise many kinds of exceptions
        raise explain(error) from None


def open_tree(handed_in: int, name: str) -> Tree:
    """Return the tree of an open directory, archive or other file.

    Raises SubmissionError if the submission is not acceptable, or OSError if it can't be read.
    """
    found = os.fstat(handed_in)
    if stat.S_ISDIR(found.st_mode):
        return Directory(handed_in, found.st_uid)
    content = read_open_file(handed_in, MAX_ARCHIVE, found.st_uid, "")
    if content is None:
        raise SubmissionError("not a file or directory")
    if is_archive(name) or not PurePosixPath(name).suffix:
        return open_archive(content, Budget())
    return VirtualFolder({name: lambda most: content[: most + 1]})


def gather(files: Sequence[tuple[str, Path]]) -> VirtualFolder:
    """Return a folder of loose files, under the names that the student gave them."""

    def read_from(name: str, path: Path) -> Callable[[int], bytes | None]:
        def read(most: int) -> bytes | None:
            with open_safely(path) as file:
                return read_open_file(file, most, os.fstat(file).st_uid, name)

        return read

    folder = VirtualFolder()
    for name, path in files:
        if name in folder.files:
            raise SubmissionError("two of its files have the same name; remove one", name)
        folder.files[name] = read_from(name, path)
    return folder
