"""Pictures of the report for the documents: `docs/images/report-*.png`, of a class that is made up.

    python scripts/screenshots.py [--to FOLDER]

Needs Chromium (Debian: apt-get install chromium chromium-driver). One submission is real, so that its messages are.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome

from grader import result
from grader.tests.browser import Scheme, chromium, dress, missing
from grader.tests.made_class import a_class
from kata.catalog import ROOT

STUDENTS = 120
REAL = ROOT / "examples/submissions/subtly_wrong"
COLOURS = 256  # of a picture: flat areas and text need no more


@dataclass(frozen=True)
class Picture:
    """A part of the page, from the element `top` downwards."""

    name: str
    width: int
    height: int
    scheme: Scheme
    top: str  # a CSS selector
    route: str = ""


PICTURES = (
    Picture("class", 1400, 900, "light", "body"),
    Picture("speed", 1400, 900, "light", "#speed"),
    Picture("submissions", 1400, 640, "light", "#submissions"),
    Picture("submission", 1400, 900, "light", "body", "#submission=subtly_wrong"),
    Picture("narrow-dark", 400, 860, "dark", "body", "#submission=subtly_wrong"),
)


def main() -> None:
    """Make the class, open its report, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs/images", metavar="FOLDER")
    arguments = parser.parse_args()
    if lacking := missing():
        sys.exit(f"screenshots: {lacking}")
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        report = make_report(Path(folder))
        for picture in PICTURES:
            path = arguments.to / f"report-{picture.name}.png"
            take(driver, report, picture, path)
            print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def make_report(folder: Path) -> Path:
    """The page of the made-up class and of one real submission."""
    for one in a_class(STUDENTS):
        result.write(one, folder)
    grader = [sys.executable, "-m", "grader"]
    subprocess.run([*grader, "grade", REAL, "--out", folder, "--quiet"], cwd=ROOT, check=True)
    subprocess.run([*grader, "report", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "report.html"


def take(driver: Chrome, report: Path, picture: Picture, path: Path) -> None:
    """Write one picture, with few colours, so that it is small."""
    dress(driver, width=picture.width, height=picture.height, scheme=picture.scheme)
    driver.get("about:blank")
    driver.get(f"{report.as_uri()}{picture.route}")
    driver.execute_script(
        "scrollTo(0, document.querySelector(arguments[0]).getBoundingClientRect().top - 24)", picture.top
    )
    driver.save_screenshot(str(path))
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
