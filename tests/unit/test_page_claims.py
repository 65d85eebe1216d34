"""The section of claims, with which the page begins."""

from __future__ import annotations

import re
from pathlib import Path

from iunet.page.build import render_page
from iunet.page.bundle import bundle_from
from iunet.tables.claimed import CLAIMS
from iunet.tables.claims import ledger
from iunet.tables.effects import NOT_RUN, REPRODUCED, Effect
from iunet.tables.measures import Finding

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"kinds": {"cifar10": "vision"}, "scaled_down": {"vision": ["alpha 1 for 8"]}}


def page(claims) -> str:
    bundle = {"facts": {"config_name": "test", "config": {}}, "claims": claims}
    return render_page(bundle_from(bundle), ROOT / "reports" / "page")


def test_claims_come_first_with_their_verdicts():
    found = {claim.key: Finding(None, NOT_RUN, ["<none>"]) for claim in CLAIMS}
    found["scl"] = Finding(Effect(5.0, 1.0, 9.0, ["cifar10"], 3), REPRODUCED)
    html = page(ledger(found, FACTS).to_json())
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert sections[:2] == ["claims", "findings"]
    section = html[html.index('<section id="claims"') : html.index('<section id="findings"')]
    assert len(re.findall(r"<tr><th", section)) == 1 + len(CLAIMS)
    assert '<span class="chip yes">reproduced</span><small>CPU-scale study</small>' in section
    assert "+5.00 points" in section and "1.00 to 9.00" in section and "1 × 3" in section
    assert "&lt;none&gt;" in section and "alpha 1 for 8" in section
    assert '"data":{"claims"' not in html  # said once


def test_a_page_without_claims_has_no_such_section():
    assert '<section id="claims"' not in page(None)
