"""A headless Chromium."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

Scheme: TypeAlias = Literal["light", "dark"]
Medium: TypeAlias = Literal["screen", "print"]


def find_program() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def explain_missing() -> str:
    """Return what to install, or "" if Chromium is installed."""
    found = shutil.which("chromedriver") and find_program()
    return "" if found else "Chromium is not installed (Debian: apt-get install chromium chromium-driver)"


@contextmanager
def open_chromium() -> Iterator[Chrome]:
    """Start a browser with a new profile, which records what pages write to the console."""
    options = ChromeOptions()
    options.binary_location = find_program() or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)  # its sandbox refuses root, and containers have little shared memory
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def emulate(
    driver: Chrome, *, width: int, height: int = 900, scheme: Scheme = "light", medium: Medium = "screen"
) -> None:
    """Show pages in a window of this many CSS pixels, in a color scheme, on screen or on paper."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})
