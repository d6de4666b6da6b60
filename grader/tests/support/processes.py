"""Lists processes by reading /proc. A process may exit while it is being listed."""

from contextlib import suppress
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return whether a process is running. A zombie does not count as running."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def find_descendants(pid: int) -> set[int]:
    """Return a process and all its living descendants."""
    children: list[str] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                children += (task / "children").read_text().split()
    return {pid}.union(*(find_descendants(int(child)) for child in children))
