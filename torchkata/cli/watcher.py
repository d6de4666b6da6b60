"""Detects saved modules in a folder by polling, which is cheaper here than file system notifications."""

from pathlib import Path

from torchkata.course.submission import is_module

Stamp = tuple[int, int, int]


class Watcher:
    """Reports modules that have changed since the last report and have then been unchanged for one poll.

    The second poll is needed because editors write files in several steps or replace them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = self.seen = self.read_stamps()

    def poll(self) -> set[str]:
        """Return the names of the saved modules, without `.py`."""
        before, self.seen = self.seen, self.read_stamps()
        saved = {name for name, stamp in self.seen.items() if stamp == before.get(name) != self.known.get(name)}
        self.known = self.known | {name: self.seen[name] for name in saved}
        return {name.removesuffix(".py") for name in saved}

    def read_stamps(self) -> dict[str, Stamp]:
        """Return the modification time, size and inode of each module."""
        found = {}
        for path in self.folder.glob("*.py"):
            try:
                stat = path.stat()
            except OSError:
                continue
            if is_module(path.name):
                found[path.name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return found
