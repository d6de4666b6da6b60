"""`kata update`: a newer handout, from its folder, its archive, or the address of that; `assignment/` stays."""

import io
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable
from http.client import HTTPException
from pathlib import Path

from torchkata.course import course, handout
from torchkata.i18n import words

from .terminal import CallError, say

MOST = 64 * 2**20  # bytes of an archive
SECONDS = 60.0  # that a server may be silent
WEB = ("https://", "http://")
UNREADABLE = (OSError, EOFError, HTTPException, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def update(source: str) -> None:
    """Take it, and say what has changed. Raises CallError before anything is changed; OSError."""
    try:
        files = taken(source)
    except handout.HandoutError as error:
        raise CallError(words("update.broken", source=source, name=error)) from None
    except UNREADABLE as error:
        why = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
        raise CallError(words("update.unreadable", source=source, error=why)) from None
    try:
        done = handout.update(course().root, files)
    except handout.HandoutError:
        raise CallError(words("update.none", name=handout.LIST)) from None
    for name, backup in done.backups.items():
        say("update.kept", name=name, backup=backup)
    for kata in done.missing:
        say("update.missing", kata=kata)
    for kata in done.changed:
        say("update.asked", kata=kata, stub=handout.stub_of(kata))
    if "pyproject.toml" in done.new:
        say("update.install")
    say("update.done" if done.new or done.gone else "update.same", files=len(done.new) + len(done.gone))


def taken(source: str) -> dict[str, bytes]:
    """The files of a handout, each as its list says. Raises HandoutError, and what reading an archive raises."""
    path = Path(source)
    if not source.startswith(WEB) and path.is_dir():
        names = [one.relative_to(path).as_posix() for one in path.glob(f"**/{handout.LIST}")]
        return chosen(names, lambda name: (path / name).read_bytes())
    content = io.BytesIO(fetched(source) if source.startswith(WEB) else path.read_bytes())
    if zipfile.is_zipfile(content):
        with zipfile.ZipFile(content) as archive:
            return chosen(archive.namelist(), archive.read)
    content.seek(0)
    try:
        with tarfile.open(fileobj=content) as tar:
            return chosen(tar.getnames(), lambda name: member(tar, name))
    except tarfile.TarError:
        raise handout.HandoutError(handout.LIST) from None


def fetched(address: str) -> bytes:
    """What a server sends. Raises OSError, HTTPException, and ValueError for more than a handout can be."""
    with urllib.request.urlopen(address, timeout=SECONDS) as answer:
        content: bytes = answer.read(MOST + 1)
    if len(content) > MOST:
        raise ValueError(f"> {MOST // 2**20} MiB")
    return content


def member(tar: tarfile.TarFile, name: str) -> bytes:
    """A file of a tar. Raises KeyError where there is none."""
    file = tar.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file.read()


def chosen(names: Iterable[str], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """What the handout that lies highest among these names lists. Raises HandoutError for what is not as listed."""
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
