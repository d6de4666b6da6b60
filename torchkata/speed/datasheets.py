"""Datasheet values of devices, from `devices.toml`. Devices are looked up by exact name."""

import tomllib
from functools import cache
from pathlib import Path

from torchkata.inside.speed.device import Device

PEAK_SOURCE = "datasheet, dense"
ACHIEVED_SOURCE = "published measurements of others"


def device(name: str) -> Device | None:
    """Return the device with exactly this name, or None. For example, an H100 PCIe differs from an H100 SXM."""
    return devices().get(name)


@cache
def devices() -> dict[str, Device]:
    """Return all devices in `devices.toml` by name."""
    table = tomllib.loads(Path(__file__).with_name("devices.toml").read_text("utf-8"))
    return {entry["name"]: Device(tflops=entry.pop("peak"), **entry) for entry in table["device"]}
