"""Names from data that would be commands: in the page and the tables they are text, in Chromium."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from browser import start_browser
from sample_page import ROOT, sample_page, text_table

from iunet.page.build import Page, render_page
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.render.forms import html_page
from iunet.tables.render.view import table_view

SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = '"><img src=x onerror="window.hacked = 1">'
ATTRIBUTE = "' onmouseover='window.hacked = 1' autofocus onfocus='window.hacked = 1"
FORMULA = '=HYPERLINK("http://evil.example","click")'
CLOSING = "</td></table></script></style><svg onload=window.hacked=1>"
HOSTILE = [SCRIPT, IMAGE, ATTRIBUTE, FORMULA, CLOSING, "{{ 7 * 7 }}", "`${window.hacked = 1}`"]


def hostile_page(folder: Path) -> Page:
    """The sample's page with hostile names wherever data or a config can bring them."""
    page = sample_page(folder)
    rows = {name: [name, 1.5] for name in HOSTILE}
    table = text_table("cost", SCRIPT, IMAGE, [SCRIPT, ATTRIBUTE], rows)
    table |= {"caption": CLOSING, "notes": HOSTILE}
    for name, row in zip(HOSTILE, table["rows"], strict=True):
        row["notes"] = [name]
        table["cells"][row["key"]]["c0"]["notes"] = [name]
    table["cells"][SCRIPT]["c1"] |= {"values": {}, "missing": IMAGE}
    page.documents = [t for t in page.documents if t["id"] != "cost"] + [table]
    page.facts["config"]["stand_ins"] = {name: name for name in HOSTILE}
    page.facts |= {"config_name": SCRIPT, "machine": {IMAGE: SCRIPT}, "versions": {SCRIPT: IMAGE}}
    page.unavailable = {SCRIPT: IMAGE, ATTRIBUTE: CLOSING}
    page.notice = page.title = CLOSING
    page.figures[0] |= {"title": IMAGE, "caption": CLOSING}
    page.figures[1] |= {"title": SCRIPT, "caption": ATTRIBUTE}
    return page


@pytest.fixture(scope="module")
def driver():
    browser = start_browser()
    yield browser
    browser.quit()


def is_harmless(browser) -> None:
    """Nothing ran, nothing was put into the page, and the console is empty."""
    assert browser.execute_script("return window.hacked") is None
    injected = "return document.querySelectorAll('img[src=x], svg[onload], [onmouseover]').length"
    assert browser.execute_script(injected) == 0
    assert browser.get_log("browser") == []


def test_the_page(driver, tmp_path):
    page = tmp_path / "index.html"
    text = render_page(hostile_page(tmp_path), ROOT / "reports" / "page")
    page.write_text(text, encoding="utf-8")
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    driver.get(page.as_uri())
    is_harmless(driver)
    assert driver.title == CLOSING
    labels = driver.execute_script(
        "return [...document.querySelectorAll('#cost tbody th')].map(th => th.firstChild.data)"
    )
    assert labels == HOSTILE
    # Whatever the page's own script does with the names: sorting, switches, tips, downloads.
    driver.execute_script(
        """for (const button of document.querySelectorAll('#cost button.sort')) button.click();
        for (const input of document.querySelectorAll('.switch input')) input.click();
        for (const place of document.querySelectorAll('[data-tip]'))
            for (const name of ['mouseover', 'mouseenter', 'focusin'])
                place.dispatchEvent(new Event(name, {bubbles: true}));
        document.querySelector('#cost .none').focus({preventScroll: true})"""
    )
    assert driver.find_element("id", "tip").text == IMAGE
    driver.execute_script("document.querySelector('#figure2 .enlarge').click()")
    driver.execute_script("document.querySelector('#cost .download').click()")
    is_harmless(driver)
    check_download(tmp_path / "cost.csv")


def check_download(path: Path) -> None:
    for _ in range(200):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.05)
    rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
    assert len(rows) == 1 + 2 * len(HOSTILE)
    cells = [cell for row in rows for cell in row]
    assert f"'{FORMULA}" in cells and not [cell for cell in cells if cell.startswith("=")]


def test_the_tables(driver, tmp_path):
    cells = {name: {"c": Cell({VALUE: Value(text=name)}, notes=[name])} for name in HOSTILE}
    document = TableDocument(
        id="hostile",
        title=SCRIPT,
        caption=CLOSING,
        row_header=[IMAGE],
        rows=[Row(name, [name], [name]) for name in HOSTILE],
        columns=[Column("c", ATTRIBUTE)],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=HOSTILE,
    )
    path = tmp_path / "table.html"
    path.write_text(html_page(table_view(document.to_json())), encoding="utf-8")
    driver.get(path.as_uri())
    is_harmless(driver)
    shown = driver.find_element("css selector", "body").text
    assert all(name in shown for name in HOSTILE)
