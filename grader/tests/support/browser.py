"""A real Chromium without a window, as wide and as dark as is asked for."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

Scheme: TypeAlias = Literal["light", "dark"]
Medium: TypeAlias = Literal["screen", "print"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def explain_missing() -> str:
    """What keeps it from starting here, in one line; nothing if nothing does."""
    if shutil.which("chromedriver") is None or program() is None:
        return "Chromium is not installed (Debian: apt-get install chromium chromium-driver)"
    return ""


def program() -> str | None:
    """Chromium itself."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def open_chromium() -> Iterator[Chrome]:
    """A browser with a profile of its own, which keeps what the page writes to the console."""
    options = ChromeOptions()
    options.binary_location = program() or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)  # root has no sandbox in it, and a container little shared memory
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def emulate(
    driver: Chrome,
    *,
    width: int,
    height: int = 900,
    scheme: Scheme = "light",
    medium: Medium = "screen",
    scale: float = 1,
) -> None:
    """Give the page so many CSS pixels, each `scale` dots wide, what the system prefers, and a screen or paper."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})
