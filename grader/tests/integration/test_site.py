"""The documentation site has no broken links, loads nothing from other hosts, and is searchable in a real Chromium."""

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

import torchkata
from grader.tests.conftest import run_python
from grader.tests.support.browser import Scheme, assert_accessible, emulate, open_chromium, open_page, wait_until
from grader.tests.support.html_tree import get_text, parse_html

VIEWS: list[tuple[str, int, Scheme]] = [
    ("index.html", 1400, "light"),
    ("docs/katas.html", 400, "dark"),
    ("docs/api.html", 1400, "dark"),
    ("docs/evidence/certified.html", 400, "light"),
    ("docs/zh/students.html", 400, "light"),
]
SEARCHES = {"assert_close": "docs/api.html", "优化器状态": "docs/zh/katas.html"}


@pytest.fixture(scope="module")
def site(needs_mkdocs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, assert that this causes no warning, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    built = run_python("-m", "mkdocs", "build", "--site-dir", str(folder))
    assert (built.code, built.out) == (0, ""), built.err
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, ET.Element]:
    """Return the pages of the site, keyed by path."""
    return {path.relative_to(site).as_posix(): parse_html(path.read_text("utf-8")) for path in site.rglob("*.html")}


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """Serve the site on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as found:
        Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


@pytest.fixture(scope="module")
def driver(needs_browser: None) -> Iterator[Chrome]:
    """Return a Chromium that is shared by all tests in this file."""
    with open_chromium() as found:
        yield found


def assert_undisturbed(driver: Chrome, address: str) -> None:
    """Assert that the page has written nothing to the console and has loaded files only from the site."""
    assert driver.execute("getLog", {"type": "browser"})["value"] == []
    loaded: list[str] = driver.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert [each for each in loaded if not each.startswith((address, "data:"))] == []


def test_every_link_on_the_site_has_a_target(site: Path, pages: dict[str, ET.Element]) -> None:
    names = {path: {each.get("id") for each in page.iter()} | {""} for path, page in pages.items()}
    broken = []
    for path, page in pages.items():
        for link in (value for each in page.iter() for key in ("href", "src") if (value := each.get(key))):
            parts = urlsplit(link)
            if parts.scheme or path == "404.html":  # its links begin at the root of the server
                continue
            target = (site / path).parent / parts.path if parts.path else site / path
            name = target.resolve().relative_to(site.resolve()).as_posix()
            if not target.exists() or (name in names and unquote(parts.fragment) not in names[name]):
                broken.append(f"{path}: {link}")
    assert broken == []


def test_site_has_no_external_resources(pages: dict[str, ET.Element]) -> None:
    loaded = [each for page in pages.values() for each in page.iter() if each.get("src") or each.tag == "link"]
    addresses = [each.get("src") or each.get("href") or "" for each in loaded]
    assert len(addresses) > len(pages)
    assert [address for address in addresses if urlsplit(address).netloc] == []


def test_api_page_documents_every_public_name(pages: dict[str, ET.Element]) -> None:
    parents = {child: parent for parent in pages["docs/api.html"].iter() for child in parent}
    documented = {
        each.get("id"): get_text(parents[each]) for each in parents if each.get("id", "").startswith("torchkata.")
    }
    for module in (torchkata, torchkata.speed):
        for name in {*module.__all__} - {"speed"}:
            assert re.search(r"\w\.\s", documented[f"{module.__name__}.{name}"]), f"{name} has no docstring"


@pytest.mark.parametrize("from_file", [True, False], ids=["from a file", "from a server"])
@pytest.mark.parametrize("words", SEARCHES, ids=["English", "Chinese"])
def test_search_leads_to_expected_page(driver: Chrome, site: Path, server: str, words: str, from_file: bool) -> None:
    address = site.as_uri() if from_file else server
    path = SEARCHES[words]
    emulate(driver, width=1400)
    open_page(driver, f"{address}/index.html")
    field = driver.find_element(By.CSS_SELECTOR, ".md-search__input")
    field.click()
    field.send_keys(words)
    result = f".md-search-result__link[href*='{path}']"
    wait_until(driver, lambda: driver.find_elements(By.CSS_SELECTOR, result))
    driver.find_element(By.CSS_SELECTOR, result).send_keys(Keys.ENTER)
    wait_until(driver, lambda: f"{path}?" in driver.current_url)
    assert_undisturbed(driver, address)


@pytest.mark.parametrize(("path", "width", "scheme"), VIEWS)
def test_page_fits_window_and_has_no_violation(
    driver: Chrome, server: str, path: str, width: int, scheme: Scheme
) -> None:
    emulate(driver, width=width, scheme=scheme)
    open_page(driver, f"{server}/{path}")
    size = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert size == [width, width]
    shown = driver.find_element(By.TAG_NAME, "body").get_attribute("data-md-color-scheme")
    assert shown == {"light": "default", "dark": "slate"}[scheme], "pages follow the theme of the system"
    assert_accessible(driver, impacts=("serious", "critical"), preload=0)
    assert_undisturbed(driver, server)
