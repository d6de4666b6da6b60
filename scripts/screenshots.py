"""Pictures for the documents: `docs/images/failure.png`, what a student reads, and `report-*.png`, of a made-up class.

    python scripts/screenshots.py [--to FOLDER]

Needs Chromium (Debian: apt-get install chromium chromium-driver). Two submissions are real, so that their messages are.
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
from grader.tests.support.browser import Scheme, emulate, explain_missing, open_chromium
from grader.tests.support.random_class import make_class

STUDENTS = 120
REAL = [ROOT / "examples/submissions" / name for name in ("subtly_wrong", "crashes_at_import")]
MISTAKE = ('torch.sqrt(state["g2"] + 1e-5)', '(torch.sqrt(state["g2"]) + 1e-5)')
TERMINAL = 112  # columns
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
    unfolds: str = ""  # what is opened for it, as a CSS selector


PICTURES = (
    Picture("class", 1400, 900, "light", "body"),
    Picture("speed", 1400, 900, "light", "#speed"),
    Picture("submissions", 1400, 640, "light", "#submissions"),
    Picture("submission", 1400, 900, "light", "body", "#submission=subtly_wrong"),
    Picture("code", 1400, 700, "light", ".part:has(.noted)", "#submission=crashes_at_import", "#parts .code"),
    Picture("narrow-dark", 400, 860, "dark", "body", "#submission=subtly_wrong"),
)


def main() -> None:
    """Make the class, open its report, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs/images", metavar="FOLDER")
    arguments = parser.parse_args()
    if lacking := explain_missing():
        sys.exit(f"screenshots: {lacking}")
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open_chromium() as driver:
        take_terminal(driver, Path(folder), arguments.to / "failure.png")
        report = make_report(Path(folder))
        for picture in PICTURES:
            path = arguments.to / f"report-{picture.name}.png"
            take(driver, report, picture, path)
            print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def make_report(folder: Path) -> Path:
    """The page of the made-up class and of the real submissions."""
    for one in make_class(STUDENTS):
        result.write(one, folder)
    grader = [sys.executable, "-m", "grader"]
    subprocess.run([*grader, "grade", *REAL, "--out", folder, "--quiet"], cwd=ROOT, check=True)
    subprocess.run([*grader, "report", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "report.html"


def take(driver: Chrome, report: Path, picture: Picture, path: Path) -> None:
    """Write one picture, with few colours, so that it is small."""
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
    """Write what pytest says of a mistake that many make in AdaGrad."""
    source = (ROOT / "reference/adagrad/solution.py").read_text()
    (folder / "assignment").mkdir()
    (folder / "assignment/adagrad.py").write_text(source.replace(*MISTAKE))
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        f"--impl={folder}",
        "--kata=adagrad",
        "-k=add_up",
        "--seed=7",
        "--color=yes",
    ]
    said = subprocess.run(pytest, cwd=ROOT, capture_output=True, text=True).stdout.replace(f" --impl={folder}", "")
    console = Console(record=True, width=TERMINAL, file=io.StringIO())
    console.print(Text.from_ansi(f"$ pytest --kata adagrad -k add_up\n{said}"), soft_wrap=False)
    page = folder / "terminal.html"
    page.write_text(console.export_html(theme=DIMMED_MONOKAI, inline_styles=True), "utf-8")
    emulate(driver, width=1100, height=900, scheme="dark")
    driver.get(page.as_uri())
    driver.find_element("tag name", "pre").screenshot(str(path))
    make_small(path)
    print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")


def make_small(path: Path) -> None:
    """Store a picture with few colours."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
