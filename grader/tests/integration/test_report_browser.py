"""In a real Chromium, the class report can be sorted, filtered and printed, and no code from students is executed."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from grader.output.page import class_pages
from grader.results import result as load
from grader.results import source
from grader.tests.conftest import call_grader
from grader.tests.support.browser import (
    RULES,
    Medium,
    Scheme,
    assert_accessible,
    emulate,
    open_chromium,
    open_page,
    wait_until,
)
from grader.tests.support.random_class import make_class, replace_texts
from grader.tests.support.solution import SOLUTION

MARKUP = "linear · <script>alert(1)</script>\n  </script></pre><img src=x onerror=alert(2)> \"'` &amp; "
EVIL = f"{MARKUP}\u2028\u202e\x1b[31m"
READ = f"{MARKUP}\n<U+202E>[31m"
NAMED = "zz<img src=x onerror=alert(3)>\"'&#%20 李"
COUNT = 52
TIMED = 3  # number of submissions; rendering their speed takes most of the time
VIEWS: list[tuple[str, int, Scheme, Medium]] = [
    ("report.html", 400, "dark", "screen"),
    ("report.html", 1400, "light", "screen"),
    ("report.html", 1400, "light", "print"),
    ("report.html#submission=ben", 400, "dark", "screen"),
    ("ben/feedback.html", 400, "dark", "screen"),
    ("ben/feedback.html", 1400, "light", "print"),
    ("large/ben/report.html", 400, "light", "screen"),
]


@pytest.fixture(scope="module")
def driver(needs_browser: None) -> Iterator[Chrome]:
    """Return a Chromium that is shared by all tests in this file."""
    with open_chromium() as found:
        yield found


def students() -> list[load.Result]:
    return [*make_class(TIMED), *list(make_class(COUNT, timed=False))[TIMED:]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a class in which the name of one student and the submission of another contain markup."""
    directory = tmp_path_factory.mktemp("class")
    *others, one, two = students()
    for each in (*others, replace_texts(one, EVIL), msgspec.structs.replace(two, submission=NAMED)):
        load.write(each, directory)
    solution = {path.name: path.read_bytes() for path in SOLUTION.glob("*.py")}
    evil = {"linear.py": f"{EVIL}\n\nx = 1\n".encode()}
    for name, files in (("ben", solution), (one.submission, evil)):
        source.store(directory, name, one.hand_in, files)
    large = shutil.copytree(directory, directory / "large")
    assert call_grader("report", directory, "--out", directory).code == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_pages, "MOST_ON_PAGE", COUNT - 1)
        assert call_grader("report", large).code == 0
    return directory


@pytest.fixture
def page(driver: Chrome, folder: Path) -> Iterator[Chrome]:
    """Open the report and assert that it needs no other file; after the test, that no message or alert was shown."""
    emulate(driver, width=1400)
    open_page(driver, (folder / "report.html").as_uri())
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    yield driver
    assert driver.execute("getLog", {"type": "browser"})["value"] == []
    with pytest.raises(NoAlertPresentException):
        driver.switch_to.alert.dismiss()


def find(driver: Chrome, selector: str) -> WebElement:
    return driver.find_element(By.CSS_SELECTOR, selector)


def list_names(driver: Chrome) -> list[str]:
    found: list[str] = driver.execute_script(
        "return [...document.querySelectorAll('#table tbody tr:not([hidden]) th')].map(th => th.textContent)"
    )
    return found


def read_column(driver: Chrome, place: int) -> list[str]:
    found: list[str] = driver.execute_script(
        "return [...document.querySelectorAll('#table tbody tr:not([hidden])')]"
        ".map(tr => tr.cells[arguments[0]].firstChild?.textContent ?? '')",
        place,
    )
    return [text.strip() for text in found]


def read_lines(driver: Chrome) -> list[str]:
    found: list[str] = driver.execute_script(
        "return [...document.querySelectorAll('main:not([hidden]) .lines li')]"
        ".map(li => [...li.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(''))"
    )
    return found


def is_count_shown(driver: Chrome, count: int) -> bool:
    return len(list_names(driver)) == count


def is_open(driver: Chrome, name: str) -> bool:
    return find(driver, "#one").is_displayed() and find(driver, "#name").text == name


def read_focused(driver: Chrome) -> str:
    return driver.switch_to.active_element.text


def test_table_sorts_by_name_and_points(page: Chrome) -> None:
    head = find(page, "#table thead th:nth-child(2)")
    for order, descending in (("descending", True), ("ascending", False)):
        head.find_element(By.TAG_NAME, "button").click()
        scores = [float(text) for text in read_column(page, 1)]
        assert scores == sorted(scores, reverse=descending)
        assert head.get_attribute("aria-sort") == order
    find(page, "#table thead th button").click()
    assert list_names(page)[:4] == ["ada", "ada_2", "ada_3", "amir"], "numbers in names must be sorted by value"
    assert len(page.find_elements(By.CSS_SELECTOR, "#table [aria-sort]")) == 1


def test_ungraded_submissions_are_sorted_last(page: Chrome) -> None:
    heads = page.find_elements(By.CSS_SELECTOR, "#table thead th")
    place = 1 + [head.get_attribute("data-kata") for head in heads].index("performance")
    for _ in range(2):
        find(page, f"#table thead th:nth-child({place}) button").click()
        speeds = read_column(page, place - 1)
        assert "" in speeds
        assert all(speeds[: speeds.index("")])
        assert not any(speeds[speeds.index("") :])


def test_rows_are_rendered_when_scrolled_into_view(
    driver: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_pages, "ROWS", 20)
    names = [one.submission for one in students()]
    for one in students():
        load.write(one, tmp_path)
    assert class_pages.write_report(tmp_path, names, {}) == []
    emulate(driver, width=1400, height=300)
    open_page(driver, (tmp_path / "report.html").as_uri())
    assert list_names(driver) == names[:20]
    assert find(driver, "#found").text == f"{COUNT} shown"
    driver.execute_script("document.getElementById('end').scrollIntoView()")
    wait_until(driver, lambda: list_names(driver) == names[:40])
    find(driver, "#table tbody a").send_keys(Keys.END)
    wait_until(driver, lambda: read_focused(driver) == names[-1])
    find(driver, "#table thead button").click()
    wait_until(driver, partial(is_count_shown, driver, 20))
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(list_names(driver)) == COUNT


def test_page_filters_by_kata_and_status(page: Chrome) -> None:
    Select(find(page, "#kata")).select_by_visible_text("linear")
    Select(find(page, "#status")).select_by_visible_text("crashed")
    wanted = int(find(page, ".heat button[data-kata=linear][data-status=crashed]").text)
    assert wanted > 0
    wait_until(page, partial(is_count_shown, page, wanted))
    assert find(page, "#found").text == f"{wanted} of {COUNT} shown"
    find(page, "#clear").click()
    wait_until(page, partial(is_count_shown, page, COUNT))
    assert not find(page, "#clear").is_displayed()


def test_clicking_a_count_shows_its_submissions(page: Chrome) -> None:
    for selector in (".heat button.wrong", ".bins button:not(:disabled)", ".failing button"):
        button = find(page, selector)
        count = find(page, ".failing td.number") if selector == ".failing button" else button
        wanted = int(count.text)
        button.click()
        wait_until(page, partial(is_count_shown, page, wanted))
        wait_until(page, lambda: read_focused(page) == list_names(page)[0])


def test_clicking_a_name_opens_the_submission(page: Chrome, folder: Path) -> None:
    find(page, "#table tbody a").click()
    wait_until(page, lambda: is_open(page, "ada"))
    assert page.title == "ada · torchkata"
    assert not find(page, "#class").is_displayed()
    assert [part.text for part in page.find_elements(By.CSS_SELECTOR, "#parts h2")]
    page.back()
    wait_until(page, lambda: find(page, "#class").is_displayed())
    assert page.title == "The class · torchkata"
    open_page(page, f"{(folder / 'report.html').as_uri()}#submission=ben")
    assert is_open(page, "ben")


def test_page_can_be_used_with_keyboard_alone(page: Chrome) -> None:
    everybody = list_names(page)
    find(page, "body").send_keys("/")
    wait_until(page, lambda: page.switch_to.active_element == find(page, "#search"))
    page.switch_to.active_element.send_keys("ADA")
    wait_until(page, lambda: list_names(page) == [name for name in everybody if "ada" in name])
    first, second, *_ = list_names(page)
    find(page, "#table tbody tr:not([hidden]) a").send_keys(Keys.ARROW_DOWN)
    wait_until(page, lambda: read_focused(page) == second)
    assert page.execute_script("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.switch_to.active_element.send_keys(Keys.ENTER)
    wait_until(page, lambda: is_open(page, second) and read_focused(page).split()[0] == second)
    find(page, "body").send_keys(Keys.ARROW_LEFT)
    wait_until(page, lambda: is_open(page, first))
    assert find(page, "#previous").get_attribute("href") is None
    find(page, "body").send_keys(Keys.ARROW_RIGHT)
    wait_until(page, lambda: is_open(page, second))
    find(page, "body").send_keys(Keys.ESCAPE)
    wait_until(page, lambda: read_focused(page) == second and find(page, "#class").is_displayed())


def test_student_text_is_never_rendered_as_markup(page: Chrome, folder: Path) -> None:
    evil = next(one.submission for one in students()[-2:-1])
    for route, name in ((evil, evil), (None, NAMED)):
        link = next(a for a in page.find_elements(By.CSS_SELECTOR, "#table tbody a") if a.text == name)
        link.click()
        wait_until(page, partial(is_open, page, name))
        assert page.find_elements(By.CSS_SELECTOR, "main img, main script") == []
        if route:
            shown = [pre.get_property("textContent") for pre in page.find_elements(By.CSS_SELECTOR, "#parts pre")]
            assert READ in shown
            assert read_lines(page) == [*READ.split("\n", 1), "", "x = 1"]
        page.back()
        wait_until(page, lambda: find(page, "#class").is_displayed())
    for path in (folder / evil / "feedback.html", folder / "large" / evil / "report.html"):
        open_page(page, path.as_uri())
        assert READ in [pre.get_property("textContent") for pre in page.find_elements(By.CSS_SELECTOR, "pre")]
        assert read_lines(page) == [*READ.split("\n", 1), "", "x = 1"]
        assert page.find_elements(By.CSS_SELECTOR, "main img, main script") == []


def test_large_class_page_opens_page_of_any_name(page: Chrome, folder: Path) -> None:
    open_page(page, (folder / "large/report.html").as_uri())
    find(page, "#search").send_keys("zz<img")
    wait_until(page, lambda: list_names(page) == [NAMED])
    find(page, "#table tbody tr:not([hidden]) a").click()
    wait_until(page, lambda: page.title == f"{NAMED} · torchkata")
    assert find(page, "h1 bdi").text == NAMED
    assert page.find_elements(By.CSS_SELECTOR, "main img, main script") == []
    find(page, "main nav a").click()
    wait_until(page, lambda: find(page, "#submissions").is_displayed())
    assert page.title == "The class · torchkata"


@pytest.mark.parametrize(("path", "width", "scheme", "medium"), VIEWS)
def test_page_fits_window_and_has_no_violation(
    driver: Chrome, folder: Path, path: str, width: int, scheme: Scheme, medium: Medium
) -> None:
    emulate(driver, width=width, scheme=scheme, medium=medium)
    open_page(driver, f"{folder.as_uri()}/{path}")
    driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    driver.execute_script(  # so that axe sees only a few rows of each long table
        "const field = document.getElementById('search');"
        "if (field) { field.value = 'ada'; field.dispatchEvent(new Event('input')); }"
    )
    size = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert size == [width, width]
    boxes = driver.execute_script("return [...document.querySelectorAll('.scroll')].map(box => box.scrollWidth)")
    assert width > 400 or all(wide <= width for wide in boxes), "no table may need horizontal scrolling"
    ground = driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(21, 23, 26)") == (scheme == "dark"), "pages follow the theme of the system"
    assert_accessible(driver, [rule for rule in RULES if medium == "screen" or rule != "wcag22aa"])  # nothing to click


def test_theme_button_overrides_the_system_theme(page: Chrome) -> None:
    button = find(page, "#theme")
    seen = []
    for _ in range(3):
        seen.append((button.text, page.execute_script("return getComputedStyle(document.documentElement).colorScheme")))
        button.click()
    assert seen == [("Theme: system", "light dark"), ("Theme: light", "light"), ("Theme: dark", "dark")]


def test_page_prints_without_controls(page: Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not find(page, "#filters").is_displayed()
    assert not find(page, "#theme").is_displayed()
    assert find(page, "#table").is_displayed()
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_status_marks_are_distinguishable_without_color(page: Chrome) -> None:
    marks = page.execute_script(
        "return [...document.querySelectorAll('.legend .mark')].map(m => getComputedStyle(m, '::before').content)"
    )
    assert len(marks) == len(set(marks)) == 7
    cell = find(page, "#table td.wrong")
    assert '"✗" / "wrong"' in page.execute_script("return getComputedStyle(arguments[0], '::after').content", cell)
