"""Stores calibrations (the measured peak rates of devices), so that slow devices can be detected later."""

import re
from pathlib import Path

import msgspec

from grader.base.cachedir import cache_dir
from grader.results.result import write_whole
from torchkata.speed.sizes import Kind

TOLERATED: dict[Kind, float] = {"cuda": 0.2, "cpu": 0.5}  # acceptable loss of speed since the calibration (0.2: 20%)


class Calibration(msgspec.Struct, frozen=True):
    """The measured peak rates of a device."""

    device: str
    kind: Kind
    date: str  # YYYY-MM-DD
    torch: str
    flops: dict[str, float]  # FLOP/s of a matmul with the shapes of `PRODUCT`, by dtype
    bandwidth: dict[str, float]  # B/s of copy and triad
    driver: str = ""


def calibration_path(device: str) -> Path:
    """Return the path of the file that stores the calibration of a device."""
    return cache_dir() / "calibration" / f"{re.sub(r'[^A-Za-z0-9.+-]+', '_', device)}.json"


def store(calibration: Calibration, path: Path) -> None:
    """Write a calibration atomically. Raises OSError if it can't be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(calibration), indent=1) + b"\n")


def load(device: str, kind: Kind) -> Calibration | None:
    """Return the calibration of exactly this device, or None if there is none or it can't be read."""
    try:
        found = msgspec.json.decode(calibration_path(device).read_bytes(), type=Calibration)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if (found.device, found.kind) == (device, kind) else None


def compare_with_calibration(calibration: Calibration | None, dtype: str, flops: float) -> str:
    """Return a message if a device is much slower than when it was calibrated, otherwise ""."""
    before = calibration.flops.get(dtype) if calibration else None
    if calibration is None or before is None or flops >= (1 - TOLERATED[calibration.kind]) * before:
        return ""
    return f"this device reaches only {flops / before:.1g} times its calibrated speed ({calibration.date})"
