"""The report page in headless Chromium, driven by its own driver and never online."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path

import pytest
from browser import start_browser
from sample_page import ROOT, all_tables, sample_page

from iunet.page.build import render_page


@pytest.fixture(scope="module")
def page_path(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    text = render_page(sample_page(folder), ROOT / "reports" / "page")
    (folder / "index.html").write_text(text, encoding="utf-8")
    return folder / "index.html"


@pytest.fixture(scope="module")
def driver():
    browser = start_browser()
    yield browser
    browser.quit()


@pytest.fixture
def browser(driver, page_path):
    """A fresh load at laptop size; afterwards the console must be empty."""
    resize(driver, 1440, 900)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    driver.get(page_path.as_uri())
    yield driver
    assert driver.get_log("browser") == []


def resize(driver, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def choose(browser, value: str) -> None:
    browser.execute_script(f"document.querySelector('.switch input[value={value}]').click()")


def column(browser, table: str, key: str) -> list[str]:
    """The visible text of a column, top to bottom."""
    script = """return [...document.querySelectorAll(
        `table[data-id=${arguments[0]}] tbody [data-key="${arguments[1]}"]`)]
        .map(cell => cell.innerText)"""
    return [text.strip() for text in browser.execute_script(script, table, key)]


def numbers(texts: list[str]) -> list[float]:
    return [float(re.match(r"[+−]?[\d.,]+", t)[0].replace("−", "-").replace(",", ""))
            for t in texts if t and t != "missing"]  # fmt: skip


def header(browser, table: str, sort: str):
    selector = f'table[data-id={table}] thead th[data-sort="{sort}"]'
    return browser.find_element("css selector", selector)


def press(element, key: str) -> None:
    button = element.find_element("css selector", "button")
    button.parent.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.send_keys(key)


def test_tables_sort_by_keyboard_with_missing_last(browser):
    from selenium.webdriver.common.keys import Keys

    original = column(browser, "table7", "label-0")
    th = header(browser, "table7", "ours-3")
    for key, state, reverse in ((Keys.ENTER, "descending", True), (Keys.SPACE, "ascending", False)):
        press(th, key)
        assert th.get_attribute("aria-sort") == state
        texts = column(browser, "table7", "ours-3")
        assert texts[-1] == "missing" and "missing" not in texts[:-1]
        values = numbers(texts)
        assert len(values) == 10 and values == sorted(values, reverse=reverse)
    press(th, Keys.ENTER)
    assert th.get_attribute("aria-sort") == "none"
    assert column(browser, "table7", "label-0") == original
    press(header(browser, "table7", "label-0"), Keys.ENTER)
    assert column(browser, "table7", "label-0") == sorted(original)


def test_text_with_a_unit_sorts_as_numbers(browser):
    from selenium.webdriver.common.keys import Keys

    press(header(browser, "efficiency", "ours-0"), Keys.ENTER)
    latencies = column(browser, "efficiency", "ours-0")
    assert latencies == ["41.25 ms", "9.3 ms", "9.15 ms", "missing"]


def test_metric_switch_changes_all_tables_that_have_the_metric(browser):
    tables = {table["id"]: table for table in all_tables()}

    def shown(name: str, row: str, key: str, metric: str) -> bool:
        index = [c["key"] for c in tables[name]["columns"]].index(key)
        place = [r["key"] for r in tables[name]["rows"]].index(row)
        mean = tables[name]["cells"][row][key]["values"][metric]["mean"]
        return column(browser, name, f"ours-{index}")[place].startswith(f"{mean:.3f}")

    cases = [("table7", "vehicle", "iunet"), ("table4", "mlp_tab/vehicle", "iunet")]
    assert all(shown(*case, "balanced_accuracy") for case in cases)  # the primary one of tables
    for metric in ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy"):
        choose(browser, metric)
        assert all(shown(*case, metric) for case in cases)
        assert shown("table6", "cifar10", "cnn", "accuracy")  # has no other
    chip = browser.find_element("css selector", "#table7 .chip.metric")
    assert chip.text == "Swapped balanced accuracy"


def test_sorting_follows_the_metric(browser):
    from selenium.webdriver.common.keys import Keys

    press(header(browser, "table7", "ours-0"), Keys.ENTER)
    choose(browser, "accuracy")
    values = numbers(column(browser, "table7", "ours-0"))
    assert values == sorted(values, reverse=True)


def test_view_switch_puts_the_papers_value_beside_ours_like_for_like(browser):
    paper = browser.find_element("css selector", '#table7 td[data-key="paper-3"]')
    assert not paper.is_displayed()
    choose(browser, "compare")
    assert paper.is_displayed()
    for index in (3, 4):  # compared in swapped balanced and in balanced accuracy
        theirs, ours, differences = (
            column(browser, "table7", f"{kind}-{index}") for kind in ("paper", "ours", "difference")
        )
        assert len(theirs) == 11
        for row in (i for i, text in enumerate(ours) if text != "missing"):
            expected = numbers([ours[row]])[0] - numbers([theirs[row]])[0]
            assert numbers([differences[row]])[0] == pytest.approx(expected, abs=0.0016)
    marks = [text[-1] for text in column(browser, "table7", "difference-3") if text]
    assert {"✓", "✗"} == set(marks)
    assert column(browser, "table7", "difference-4")[0].endswith("n/a")
    labels = [th.text for th in browser.find_elements("css selector", "#table7 th.group small")]
    assert labels == ["Swapped balanced accuracy"] * 4 + ["Balanced accuracy"] * 3
    # Headers stand above their columns, and tables without a paper stay as they are.
    script = """const at = s => document.querySelector(s).getBoundingClientRect();
        const group = at('#table1 th[data-sort="ours-1"]');
        const cell = at('#table1 td[data-key="difference-1"]');
        return [group.right - cell.right, document.querySelector('#efficiency table').className]"""
    gap, classes = browser.execute_script(script)
    assert abs(gap) < 1.5 and "compare" not in classes
    choose(browser, "ours")
    assert not paper.is_displayed()


def test_a_missing_cell_tells_its_reason_on_focus(browser):
    script = "document.querySelector('#table7 .none').focus({preventScroll: true})"
    browser.execute_script(script)
    tip = browser.find_element("id", "tip")
    assert tip.is_displayed() and tip.text == "not finished"


def test_a_figure_enlarges_and_escape_closes_it(browser):
    from selenium.webdriver.common.keys import Keys

    dialog = browser.find_element("id", "lightbox")
    button = browser.find_element("css selector", "#figure2 .enlarge")
    for key in (Keys.ENTER, None):
        button.send_keys(key) if key else browser.execute_script("arguments[0].click()", button)
        assert dialog.is_displayed()
        image = dialog.find_element("css selector", "img")
        assert int(image.get_property("naturalWidth")) == 1440
        browser.switch_to.active_element.send_keys(Keys.ESCAPE)
        assert not dialog.is_displayed()
    assert browser.switch_to.active_element == button


def test_csv_download_comes_from_the_page_itself(browser, tmp_path):
    settings = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", settings)
    browser.execute_script("document.querySelector('#table7 .download').click()")
    path = tmp_path / "table7.csv"
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    assert len(rows) == 11 * 7 * 3
    (row,) = [r for r in rows if (r["row"], r["column"]) == ("vehicle", "iunet")
              and r["metric"] == "swapped_balanced_accuracy"]  # fmt: skip
    assert (row["paper_mean"], row["paper_std"]) == ("81.805", "2.065")
    assert float(row["difference"]) == pytest.approx(float(row["mean"]) - 81.805, abs=1e-3)
    assert {r["missing"] for r in rows if r["row"] == "jasmine"} == {"not in the mirror"}


def test_no_request_leaves_the_page(browser, page_path):
    sent = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            sent.append(message["params"]["request"]["url"])
    allowed = ("data:", "blob:", page_path.as_uri())
    assert sent and [url for url in sent if not url.startswith(allowed)] == []
    resources = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [url for url in resources if not url.startswith("data:")] == []


def test_rows_on_a_phone_are_as_tall_as_what_they_show(browser):
    """Text that wraps outside of the screen would leave gaps."""
    resize(browser, 390, 844)
    script = """return [...document.querySelectorAll('main tr')].filter(row => {
        const seen = [...row.cells].filter(c => c.getBoundingClientRect().left < innerWidth);
        const range = document.createRange();
        const heights = seen.map(c => { range.selectNodeContents(c);
            return range.getBoundingClientRect().height });
        return row.cells.length && getComputedStyle(row).display === 'table-row'
            && row.offsetHeight > Math.max(...heights) + 40;
    }).map(row => row.textContent)"""
    assert browser.execute_script(script) == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("view", ["ours", "compare"])
def test_the_page_never_scrolls_sideways(browser, width, view):
    resize(browser, width, 844)
    choose(browser, view)
    script = "return [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]"
    whole, body, inner = browser.execute_script(script)
    assert whole <= width and body <= width and inner == width
    side = browser.find_element("css selector", "nav.side").is_displayed()
    contents = browser.find_element("css selector", "details.contents").is_displayed()
    assert (side, contents) == ((True, False) if width == 1440 else (False, True))


def test_the_first_column_stays_when_a_table_scrolls(browser):
    resize(browser, 390, 844)
    script = """const box = document.querySelector('#table7 .scroll');
        const left = () => box.querySelector('tbody th').getBoundingClientRect().left;
        const before = left();
        box.scrollLeft = 200;
        return [before, left(), box.scrollLeft]"""
    before, after, scrolled = browser.execute_script(script)
    assert scrolled == 200 and before == after


def test_print_shows_all_and_no_controls(browser):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for selector in ("nav.side", ".controls", ".download", ".contents"):
            assert not browser.find_element("css selector", selector).is_displayed()
        script = "return getComputedStyle(document.querySelector('#table7 .scroll')).overflowX"
        assert browser.execute_script(script) == "visible"
        pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
        assert len(pdf) > 50_000
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_a_script_the_tables_stand(browser, page_path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(page_path.as_uri())
    row = browser.find_element("css selector", "#table7 tbody tr")
    assert row.text.startswith("blood-transfusion") and row.text.count("±") == 7
    assert not browser.find_element("css selector", ".controls").is_displayed()
    missing = browser.find_element("css selector", "#table7 .none")
    assert missing.get_attribute("title") == "not finished"


def test_every_link_within_the_page_has_its_target(browser):
    script = """return [...document.querySelectorAll('a[href^="#"]')].map(a => a.hash.slice(1))
        .filter(id => !document.getElementById(id))"""
    assert browser.execute_script(script) == []


def test_colours_have_contrast_in_light_and_dark(browser):
    script = """const style = getComputedStyle(document.documentElement);
        const value = name => style.getPropertyValue('--' + name).trim();
        return Object.fromEntries(arguments[0].map(name => [name, value(name)]))"""
    pairs = [("ink", "ground"), ("soft", "sheet"), ("soft", "stripe"), ("accent", "accent-soft"),
             ("sheet", "accent"), ("good", "good-bg"), ("bad", "bad-bg"), ("near", "near-bg"),
             ("na", "na-bg")]  # fmt: skip
    try:
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            colours = browser.execute_script(script, sorted({n for pair in pairs for n in pair}))
            for ink, ground in pairs:
                assert contrast(colours[ink], colours[ground]) >= 4.5, (scheme, ink, ground)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def contrast(first: str, second: str) -> float:
    """WCAG's contrast of two hexadecimal colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
