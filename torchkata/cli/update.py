"""`kata update`: installs a newer handout from a folder, an archive or a URL, without changing `assignment/`.

A course written by `kata init` is updated to the installed version of torchkata.
"""

import io
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable
from http.client import HTTPException
from pathlib import Path

from torchkata.course import course, handout
from torchkata.i18n import _

from .self_study import COURSE, read_archive
from .terminal import UsageError, say

MAX_BYTES = 64 * 2**20  # maximum size of an archive
TIMEOUT_SECONDS = 60.0
WEB = ("https://", "http://")
UNREADABLE = (OSError, EOFError, HTTPException, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def update(source: str) -> None:
    """Install a newer handout and print the changes.

    Without a source, a self-learner's course is updated to the course in the installed version. Raises UsageError if
    the handout can't be read or used, before anything is changed, or OSError if a file can't be replaced.
    """
    if not source and not handout.is_self_study(course().root):
        raise UsageError(_("specify the newer handout, for example `kata update handout.zip`"))
    try:
        files = read_handout(source) if source else read_archive(COURSE)
    except handout.HandoutError as error:
        message = _("{source}: not a complete handout (missing or corrupted: {name})", source=source, name=error)
        raise UsageError(message) from None
    except UNREADABLE as error:
        why = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
        raise UsageError(_("{source}: can't be read ({error})", source=source, error=why)) from None
    try:
        done = handout.update(course().root, files)
    except handout.HandoutError:
        message = _("this folder is not a handout that can be updated, because {name} is missing", name=handout.LIST)
        raise UsageError(message) from None
    for name, backup in done.backups.items():
        say("{name}: you had changed this file; your version is saved as {backup}", name=name, backup=backup)
    for kata in done.missing:
        say("assignment/{kata}.py is missing: `kata reset {kata}` restores its stub", kata=kata)
    for kata in done.changed:
        stub = handout.stub_of(kata)
        say("the task of {kata} has changed: compare your file with the new stub, {stub}", kata=kata, stub=stub)
    if handout.REQUIREMENTS in done.new:
        say("{file} has changed: run `pip install -r {file}` (or `uv sync`)", file=handout.REQUIREMENTS)
    count = len(done.new) + len(done.gone)
    say("files updated: {files}; assignment/ was not changed" if count else "already up to date", files=count)


def read_handout(source: str) -> dict[str, bytes]:
    """Read the files of a handout and verify their digests.

    Raises HandoutError if the handout is not complete, or one of `UNREADABLE` if it can't be read.
    """
    path = Path(source)
    if not source.startswith(WEB) and path.is_dir():
        names = [file.relative_to(path).as_posix() for file in path.glob(f"**/{handout.LIST}")]
        return read_listed(names, lambda name: (path / name).read_bytes())
    content = io.BytesIO(download(source) if source.startswith(WEB) else path.read_bytes())
    try:  # first, because a tar file that contains a wheel can look like a zip file
        with tarfile.open(fileobj=content) as tar:
            return read_listed(tar.getnames(), lambda name: read_member(tar, name))
    except tarfile.TarError:
        content.seek(0)
    if not zipfile.is_zipfile(content):
        raise handout.HandoutError(handout.LIST)
    with zipfile.ZipFile(content) as archive:
        return read_listed(archive.namelist(), archive.read)


def download(address: str) -> bytes:
    """Download an archive.

    Raises ValueError if it is larger than MAX_BYTES, or OSError or HTTPException if the download fails.
    """
    with urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
        content: bytes = answer.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"> {MAX_BYTES // 2**20} MiB")
    return content


def read_member(tar: tarfile.TarFile, name: str) -> bytes:
    """Read a file in a tar archive. Raises KeyError if it is missing."""
    file = tar.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file.read()


def read_listed(names: Iterable[str], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Read the files of the topmost handout among these names. Raises HandoutError if a file is missing or changed."""
    lists = sorted((name for name in names if f"/{name}".endswith(f"/{handout.LIST}")), key=len)
    if not lists:
        raise handout.HandoutError(handout.LIST)
    top = lists[0].removesuffix(handout.LIST)
    content = read(lists[0])
    files = {handout.LIST: content}
    for name, digest in handout.parse_listing(content).items():
        try:
            files[name] = read(top + name)
        except (KeyError, FileNotFoundError):
            raise handout.HandoutError(name) from None
        if handout.digest(files[name]) != digest:
            raise handout.HandoutError(name)
    return files
