"""A submission to be packed: the attacked kata's file among the others, and the means to make an archive of it."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from torchkata.course import course

MIB = 2**20
Member: TypeAlias = tuple[tarfile.TarInfo, bytes]


@dataclass(frozen=True)
class Archive:
    """What goes into an archive, and where the archive is written."""

    folder: Path
    file: str  # the attacked kata's
    files: Mapping[str, bytes]  # it and the others

    @property
    def answer(self) -> str:
        """Where a link would find the right answer."""
        return str(course().solution(self.file.removesuffix(".py")))

    def rest(self) -> list[tuple[str, bytes]]:
        """The others alone."""
        return [(name, content) for name, content in self.files.items() if name != self.file]

    def zipped(self, entries: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
        """A zip of these entries, in this order."""
        path = self.folder / "handed_in.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in entries:
                archive.writestr(name, content, zipfile.ZIP_DEFLATED, 1)
        return path

    def tarred(self, members: Iterable[Member]) -> Path:
        """A tar of these members, in this order."""
        path = self.folder / "handed_in.tar"
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            for info, content in members:
                archive.addfile(info, io.BytesIO(content))
        return path


Builder: TypeAlias = Callable[[Archive], Path]


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    """One member of a tar."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content)
    return info, content
