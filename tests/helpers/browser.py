"""Headless Chromium, driven by its own driver and never online."""

from __future__ import annotations

import shutil

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars")


def start_browser() -> webdriver.Chrome:
    """A browser; the test is skipped where there is none, or none that starts."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium or chromedriver here (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    except WebDriverException as error:
        pytest.skip(f"chromium does not start here: {str(error).splitlines()[0]}")
