"""Which modules of a folder were saved: looked at often, since a look costs less than asking the system to tell."""

from pathlib import Path

from torchkata.course.submission import is_module

Stamp = tuple[int, int, int]


class Saves:
    """Call it often: it names the modules that have changed and then stayed the same from one call to the next.

    Editors write in several steps, or put another file in the place of the old one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = self.seen = self.stamps()

    def __call__(self) -> set[str]:
        """The names of the modules, without `.py`."""
        before, self.seen = self.seen, self.stamps()
        still = {name for name, stamp in self.seen.items() if stamp == before.get(name) != self.known.get(name)}
        self.known = self.known | {name: self.seen[name] for name in still}
        return {name.removesuffix(".py") for name in still}

    def stamps(self) -> dict[str, Stamp]:
        """Time, size and identity of each file; none of what is not there."""
        found = {}
        for path in self.folder.glob("*.py"):
            try:
                stat = path.stat()
            except OSError:
                continue
            if is_module(path.name):
                found[path.name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return found
