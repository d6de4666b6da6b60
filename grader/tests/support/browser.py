"""A headless Chromium."""

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.support.wait import WebDriverWait
from selenium_axe_python.axe import Axe

Scheme: TypeAlias = Literal["light", "dark"]
MOUSE = "--blink-settings=primaryHoverType=2,availableHoverTypes=2"  # pages see a computer with a mouse
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]  # of axe
PATIENCE = 60.0  # maximum seconds until a page reacts
Medium: TypeAlias = Literal["screen", "print"]


@contextmanager
def open_chromium() -> Iterator[Chrome]:
    """Start a browser with a fresh profile that records the console messages of pages."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", MOUSE):
        options.add_argument(argument)  # Chromium's sandbox refuses root, and containers have little shared memory
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()


def emulate(
    driver: Chrome, *, width: int, height: int = 900, scheme: Scheme = "light", medium: Medium = "screen"
) -> None:
    """Emulate a window of the given size in CSS pixels, a color scheme, and the screen or print medium."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})


def open_page(driver: Chrome, address: str) -> None:
    """Load or reload a page, and wait until its scripts have run."""
    driver.get("about:blank")
    driver.get(address)
    wait_until(driver, lambda: driver.execute_script("return document.readyState == 'complete'"))


def wait_until(driver: Chrome, holds: Callable[[], object]) -> None:
    WebDriverWait(driver, PATIENCE, poll_frequency=0.05).until(
        lambda _: holds(), "the page did not reach the expected state"
    )


def assert_accessible(
    driver: Chrome, rules: Collection[str] = RULES, impacts: Collection[str] = (), **options: object
) -> None:
    """Assert that axe-core finds no violation of these rules (with one of these impacts, if any are given)."""
    axe = Axe(driver)
    axe.inject()  # type: ignore[no-untyped-call]
    chosen: dict[str, Any] = {"runOnly": [*rules], "resultTypes": ["violations"], **options}
    found = [one for one in axe.run(options=chosen)["violations"] if not impacts or one["impact"] in impacts]
    assert found == [], axe.report(found)
