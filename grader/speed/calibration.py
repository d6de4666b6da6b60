"""What a device reached when it was calibrated: kept on this machine, and held against it when it grades."""

import re
from pathlib import Path

import msgspec

from grader.base.cachedir import cache_dir
from grader.results.result import write_whole
from torchkata.speed.sizes import Kind

TOLERATED: dict[Kind, float] = {"cuda": 0.2, "cpu": 0.5}  # by which a device may do less than when it was calibrated


class Calibration(msgspec.Struct, frozen=True):
    """The ceilings of one device."""

    device: str
    kind: Kind
    date: str  # YYYY-MM-DD
    torch: str
    flops: dict[str, float]  # FLOP/s of a product in the shape of `PRODUCT`, by dtype
    bandwidth: dict[str, float]  # B/s of copy and triad
    driver: str = ""


def path_of(device: str) -> Path:
    """Where the calibration of this device is kept."""
    return cache_dir() / "calibration" / f"{re.sub(r'[^A-Za-z0-9.+-]+', '_', device)}.json"


def store(calibration: Calibration, path: Path) -> None:
    """Write it, whole or not at all. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n")


def stored(device: str, kind: Kind) -> Calibration | None:
    """That of exactly this device; None where there is none that can be read."""
    try:
        found = msgspec.json.decode(path_of(device).read_bytes(), type=Calibration)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if (found.device, found.kind) == (device, kind) else None


def fallen(calibration: Calibration | None, dtype: str, flops: float) -> str:
    """What is wrong with a device whose plain product now reaches so many FLOP/s; "" for nothing."""
    before = calibration.flops.get(dtype) if calibration else None
    if calibration is None or before is None or flops >= (1 - TOLERATED[calibration.kind]) * before:
        return ""
    return f"this device does {flops / before:.1g} of what it did when it was calibrated ({calibration.date})"
