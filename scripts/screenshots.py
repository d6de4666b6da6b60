"""Take the screenshots in `docs/images/`: pytest's failure message, and the report of a simulated class.

    python scripts/screenshots.py [--to FOLDER]

Needs Chromium (Debian: apt-get install chromium chromium-driver). Two submissions are actually graded, so that their
messages are real.
"""

import argparse
import io
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text
from selenium.webdriver import Chrome

from benchmarks import ROOT
from grader.results import result
from grader.tests.support.browser import Scheme, emulate, open_chromium
from grader.tests.support.programs import PROGRAMS
from grader.tests.support.random_class import make_class

STUDENTS = 120
REAL = [ROOT / "examples/submissions" / name for name in ("subtly_wrong", "crashes_at_import")]
MISTAKE = ('torch.sqrt(state["g2"] + 1e-5)', '(torch.sqrt(state["g2"]) + 1e-5)')
TERMINAL = 112  # width of the terminal in columns
COLORS = 256  # number of colors, enough for flat areas and text


@dataclass(frozen=True)
class Picture:
    """A screenshot of the report, starting at the element `top`."""

    name: str
    width: int
    height: int
    scheme: Scheme
    top: str  # a CSS selector
    route: str = ""
    unfolds: str = ""  # CSS selector of an element to open


PICTURES = (
    Picture("class", 1400, 900, "light", "body"),
    Picture("speed", 1400, 900, "light", "#speed"),
    Picture("submissions", 1400, 640, "light", "#submissions"),
    Picture("submission", 1400, 900, "light", "body", "#submission=subtly_wrong"),
    Picture("code", 1400, 700, "light", ".part:has(.noted)", "#submission=crashes_at_import", "#parts .code"),
    Picture("narrow-dark", 400, 860, "dark", "body", "#submission=subtly_wrong"),
)


def main() -> None:
    """Grade the class, open its report, and take the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs/images", metavar="FOLDER")
    arguments = parser.parse_args()
    PROGRAMS["needs_browser"].demand()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_chromium() as driver:
        take_terminal(driver, Path(folder), arguments.to / "failure.png")
        report = make_report(Path(folder))
        for picture in PICTURES:
            path = arguments.to / f"report-{picture.name}.png"
            take(driver, report, picture, path)
            print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def make_report(folder: Path) -> Path:
    """Write a report of the simulated class and the real submissions."""
    for graded in make_class(STUDENTS):
        result.write(graded, folder)
    grader = [sys.executable, "-m", "grader"]
    subprocess.run([*grader, "grade", *REAL, "--out", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*grader, "report", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "report.html"


def take(driver: Chrome, report: Path, picture: Picture, path: Path) -> None:
    """Take one screenshot."""
    emulate(driver, width=picture.width, height=picture.height, scheme=picture.scheme)
    driver.get("about:blank")
    driver.get(f"{report.as_uri()}{picture.route}")
    if picture.unfolds:
        driver.execute_script("document.querySelector(arguments[0]).open = true", picture.unfolds)
    driver.execute_script(
        "scrollTo(0, document.querySelector(arguments[0]).getBoundingClientRect().top - 24)", picture.top
    )
    driver.save_screenshot(str(path))
    make_small(path)


def take_terminal(driver: Chrome, folder: Path, path: Path) -> None:
    """Take a screenshot of pytest's output for a common mistake in AdaGrad."""
    source = (ROOT / "reference/adagrad/solution.py").read_text()
    (folder / "assignment").mkdir()
    (folder / "assignment/adagrad.py").write_text(source.replace(*MISTAKE))
    options = [f"--impl={folder}", "--kata=adagrad", "-k=g2_sums", "--seed=7", "--color=yes"]
    pytest = [sys.executable, "-m", "pytest", *options]
    printed = subprocess.run(pytest, cwd=ROOT, capture_output=True, text=True).stdout.replace(f" --impl={folder}", "")
    console = Console(record=True, width=TERMINAL, file=io.StringIO())
    console.print(Text.from_ansi(f"$ pytest --kata adagrad -k g2_sums\n{printed}"), soft_wrap=False)
    page = folder / "terminal.html"
    page.write_text(console.export_html(theme=DIMMED_MONOKAI, inline_styles=True), "utf-8")
    emulate(driver, width=1100, height=900, scheme="dark")
    driver.get(page.as_uri())
    driver.find_element("tag name", "pre").screenshot(str(path))
    make_small(path)
    print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def make_small(path: Path) -> None:
    """Reduce the number of colors in an image file to shrink it."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
