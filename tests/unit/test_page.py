"""The report page as a file: agreement, escaping, determinism, missing data, claims, facts."""

from __future__ import annotations

import base64
import copy
import io
import re
import subprocess

import numpy as np
import pytest
import yaml
from PIL import Image
from sample_page import (
    ROOT,
    complete,
    document,
    figure,
    page_data,
    sample_page,
    some_facts,
    text_table,
)

from iunet.errors import UserError
from iunet.page.build import (
    PDF_BYTES,
    Page,
    agreement_groups,
    lossless_webp,
    render_page,
)
from iunet.page.decisions import beside_config, read_decisions
from iunet.page.facts import budgets, environments, git_state, job_times, newest
from iunet.tables.claims import CLAIMS, ledger
from iunet.tables.render.view import (
    agreement,
    expected_agreement,
    letters,
    missing_by_reason,
    number_text,
    table_view,
)
from iunet.tables.verdicts import REPRODUCED, Effect, Finding

TEMPLATE = ROOT / "reports" / "page"


def cell(mean=None, paper=None, agrees=None, missing=None) -> dict:
    return {
        "values": {} if mean is None else {"accuracy": {"mean": mean, "std": None, "n": 1}},
        "paper": None if paper is None else {"mean": paper, "std": 0.1, "metric": "accuracy"},
        "difference": None if None in (mean, paper) else mean - paper,
        "agrees": agrees,
        "missing": missing,
    }


def small_table(name: str, cells: dict[str, dict[str, dict]], **content) -> dict:
    columns = list(dict.fromkeys(key for row in cells.values() for key in row))
    table = document(
        name,
        name.title(),
        rows=[{"key": key, "labels": [key]} for key in cells],
        columns=[{"key": key, "label": key.upper()} for key in columns],
        cells=cells,
        **content,
    )
    return complete(table)


def minimal(**content) -> Page:
    return Page(some_facts(), **content)


def rendered(page: Page) -> str:
    return render_page(page, TEMPLATE)


# ---------------------------------------------------------------- agreement, claims


def test_agreement_counts_every_kind_beside_what_chance_gives():
    """Chance counts only where standard deviations decide: counts of data are equal or not."""
    row = {
        "a": cell(1.0, 1.0, "yes"),
        "b": cell(2.0, 1.0, "no"),
        "c": cell(2.0, 1.0, "n/a"),
        "d": cell(None, 1.0, None, "not finished"),
        "e": cell(2.0),
    }
    table = small_table("table6", {"x": row})
    assert agreement(table) == {"yes": 1, "no": 1, "n/a": 1, "missing": 1}
    exact = small_table("table8", {"x": {"a": cell(1.0, 1.0, "yes")}})
    exact["cells"]["x"]["a"]["paper"]["std"] = None
    repeated = small_table("metrics_tabular", {"x": row})
    scores, statistics = agreement_groups([table, exact, repeated, table | {"id": "table7"}])
    assert [line["id"] for line in scores["lines"]] == ["table6", "table7"]
    assert (scores["title"], scores["counts"]["yes"]) == ("Scores", 2)
    assert scores["expected"] == pytest.approx(3.8)
    assert (statistics["title"], statistics["counts"]) == (
        "Statistics of the data sets",
        {"yes": 1},
    )
    assert statistics["expected"] is None and expected_agreement(table) == pytest.approx(1.9)
    assert "<small>(1.9 if all were equal)</small>" in rendered(minimal(documents=[table]))


def test_claims_come_first_with_their_verdicts():
    found = {claim.key: Finding(remarks=["<none>"]) for claim in CLAIMS}
    found["scl"] = Finding(Effect({"cifar10": 5.0}, 3, (1.0, 9.0)), REPRODUCED)
    facts = {"kinds": {"cifar10": "vision"}, "scaled_down": {"vision": ["alpha 1 for 8"]}}
    facts |= {"stand_ins": [], "subsets": {}}
    html = rendered(minimal(documents=[ledger(found, facts).to_json() | {"id": "claims"}]))
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert sections == ["claims", "run"]
    section = html[html.index('<section id="claims"') : html.index('<section id="run"')]
    assert len(re.findall(r"<tr><th", section)) == 1 + len(CLAIMS)
    assert '<span class="chip yes">reproduced</span><small>CPU-scale study</small>' in section
    assert "+5.00 points" in section and "1.00 to 9.00" in section
    assert "&lt;none&gt;" in section and "alpha 1 for 8" in section
    assert '<section id="claims"' not in rendered(minimal())


# ---------------------------------------------------------------- the file


def test_the_page_is_one_deterministic_file(tmp_path):
    page = sample_page(tmp_path)
    before = copy.deepcopy(page)
    first = rendered(page)
    assert page == before
    assert rendered(page) == first
    links = re.findall(r"""\b(?:src|href)="([^"]*)"|url\(([^)]*)\)""", first)
    assert len(links) > 50
    assert [link for link in map("".join, links) if not link.startswith(("#", "data:"))] == []
    assert "@import" not in first
    assert "https://www.openml.org" in first  # as text, in the config
    for part in (
        "Table 7: tabular data sets",
        "data:image/webp;base64,",
        "data:application/pdf;base64,",
    ):
        assert part in first


def test_hostile_text_stays_text():
    attack = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&\u2028'
    table = small_table("table1", {attack: {"iunet": cell(1.0)}}, notes=[attack], caption=attack)
    table["cells"][attack]["iunet"]["notes"] = [attack]
    page = rendered(minimal(title=attack, documents=[table], notice=[attack, attack]))
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img src=x" not in page
    assert page_data(page)["table1"]["cells"][attack]["iunet"]["notes"] == [attack]


def test_the_data_for_downloads_are_short():
    table = small_table("table1", {"a": {"iunet": cell(59.96588693957114)}})
    page = rendered(minimal(documents=[table]))
    kept = page_data(page)["table1"]["cells"]["a"]["iunet"]
    assert kept["values"]["accuracy"]["mean"] == 59.965887
    assert "missing" not in kept and "notes" not in kept
    assert 'data-number="59.965887"' in page


def test_missing_cells_are_marked_grouped_and_collected():
    gone = cell(missing="not in the mirror")
    cells = {
        "vehicle": {"iunet": cell(80.0), "xgb": cell(missing="not finished")},
        "nomao": {"iunet": gone, "xgb": gone},
    }
    table = small_table("table7", cells)
    reasons = {"not finished": ["vehicle (XGB)"], "not in the mirror": ["nomao"]}
    assert missing_by_reason(table) == reasons
    page = rendered(minimal(documents=[table], unavailable={"nomao": "not in the mirror"}))
    assert page.count('class="none" tabindex="0"') == 3
    assert "<b>Missing</b> (not in the mirror): nomao." in page
    section = page[page.index('<section id="missing">') :]
    assert "1 data set is not available" in section
    assert all(reason in section for reason in reasons)


def test_a_page_has_only_sections_with_something_to_show(tmp_path):
    """And its menu names them alone; what did not run is listed with its reason."""
    gone = {"x": {"a": cell(missing="not finished")}}
    documents = [small_table("table1", gone), small_table("laziness", {"x": {"a": cell(1.0)}})]
    gone = figure("figure2", "Figure 2", missing="no data set")
    html = rendered(minimal(documents=documents, figures=[gone]))
    assert re.findall(r'<section id="([^"]+)"', html) == ["beyond", "missing", "run"]
    links, ids = (set(re.findall(f'{kind}="#?([^"]*)"', html)) for kind in ("href", " id"))
    assert {"laziness", "missing"} <= links - {"data:,"} <= ids
    assert "<td>Table1</td>" in html and "<td>Figure 2</td>" in html
    assert 'name="metric"' not in html and 'name="view"' not in html


def test_figures_keep_every_pixel_and_large_pdfs_stay_outside(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "figure2.png")
    (tmp_path / "figure2.pdf").write_bytes(b"%PDF" + bytes(PDF_BYTES // 2))
    names = {kind: str(tmp_path / f"figure2.{kind}") for kind in ("png", "pdf")}
    first, second = (figure(name, name.title(), **names) for name in ("figure2", "figure3"))
    page = rendered(minimal(figures=[first]))
    (embedded,) = re.findall(r"data:image/webp;base64,([^\"]+)", page)
    shown = Image.open(io.BytesIO(base64.b64decode(embedded)))
    np.testing.assert_array_equal(np.asarray(shown), pixels)
    assert "data:application/pdf" in page
    page = rendered(minimal(figures=[first, second]))
    assert "data:application/pdf" not in page and page.count("data:image/webp") == 2


def test_a_damaged_picture_is_refused_by_name(tmp_path):
    path = tmp_path / "cut.png"
    Image.new("RGB", (300, 200), "white").save(path)
    path.write_bytes(path.read_bytes()[:-80])
    with pytest.raises(UserError, match=r"cut\.png is not a PNG"):
        lossless_webp(path)


# ---------------------------------------------------------------- decisions, facts, numbers


def test_every_key_of_a_decision_is_in_the_config_with_the_decided_value():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    decisions = beside_config(read_decisions(ROOT / "reports" / "decisions.yaml"), config)
    values = [value for decision in decisions for value in decision["values"]]
    assert len(decisions) > 30 and len(values) > 20
    assert [v["key"] for v in values if v["changed"]] == []


def test_a_changed_decision_shows_both_values(tmp_path):
    path = tmp_path / "decisions.yaml"
    entry = {"topic": "Epochs", "decision": "100", "source": "ours", "keys": {"train.epochs": 100}}
    path.write_text(yaml.safe_dump([entry]))
    page = minimal(decisions=read_decisions(path))
    page.facts["config"]["train"] = {"epochs": 5}
    assert '<code class="live">5</code> <span class="chip no">decided: 100</span>' in rendered(page)


def test_facts_from_git_benchmarks_and_evaluations(tmp_path):
    assert git_state(tmp_path) == (None, None)
    (tmp_path / "repository").mkdir()
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", tmp_path / "repository", *author, *command], check=True)
    commit, dirty = git_state(tmp_path / "repository")
    assert re.fullmatch("[0-9a-f]{40}", commit) and dirty is False
    (tmp_path / "repository" / "new").write_text("")
    assert git_state(tmp_path / "repository") == (commit, True)
    for name, seconds in (("runs/a/supernet", 1.5), ("runs/b/supernet", 2), ("split/a", 0.5)):
        path = tmp_path / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{seconds}\t0:00:01\n")
    assert job_times(tmp_path) == {
        "split": {"jobs": 1, "seconds": 0.5},
        "supernet": {"jobs": 2, "seconds": 3.5},
    }
    runs = [{"environment": {"device": d, "versions": {"torch": "2.13.0"}}} for d in ("b", "a")]
    several = {"device": "a (1 run); b (2 runs)"}
    assert environments([*runs, runs[0]]) == (several, {"torch": "2.13.0"})
    assert newest([]) is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", newest([path]))
    assert budgets({"tuning": {"xgb": {"trials": 3, "per": "study"}, "seeds": 1}}) == {
        "xgb": "3 trials per study"
    }


def test_numbers_as_text():
    assert number_text(92_012_544, 3) == "92,012,544"
    assert number_text(1234.5, 1) == "1234.5"
    assert number_text(-0.0001, 3, sign=True) == "0.000"
    assert number_text(-1.25, 2, sign=True) == "−1.25"
    assert [letters(i) for i in (0, 25, 26, 27)] == ["a", "z", "aa", "ab"]


def test_one_seed_shows_no_standard_deviation_and_ties_are_all_bold():
    row = {"a": cell(1.0), "b": cell(1.0)}
    for entry in row.values():
        entry["values"]["accuracy"]["best"] = True
    cells = table_view(small_table("t", {"x": row})).rows[0].cells
    values = [shown.values["accuracy"] for shown in cells]
    assert [(v.text, v.spread, v.best) for v in values] == [("1.000", "", True)] * 2


def test_counts_given_as_text_lend_their_decimals_to_the_papers_value():
    ours, gone = cell(538.0, 539.0, "no"), cell(None, 120.0, None, "not in the mirror")
    ours["values"]["accuracy"]["text"] = "538"
    view = table_view(small_table("table9", {"a": {"n_train": ours}, "b": {"n_train": gone}}))
    first, second = (row.cells[0] for row in view.rows)
    assert (first.paper.text, first.values["accuracy"].text, first.difference.text) == (
        "539",
        "538",
        "−1",
    )
    assert second.paper.text == "120"


def test_text_cells_are_shown_as_they_are():
    table = text_table("cost", "Cost", "Method", ["Time"], {"XGB": ["9 h 02 min"]})
    assert table_view(table).rows[0].cells[0].values["value"].text == "9 h 02 min"


# ---------------------------------------------------------------- the user's own data


def own_page(best: str = "XGB") -> str:
    methods = {"XGB": ("xgb", 97.0, "results/own/runs/x/xgb/seed0"), "IUNET": ("iunet", 95.5, None)}
    found = [
        {"method": name, "label": label, "score": score, "low": score - 2, "high": score + 1}
        | {"folder": folder}
        for label, (name, score, folder) in methods.items()
    ]
    found.sort(key=lambda each: each["label"] != best)
    table = text_table("best_method", "The methods", "Method", ["Score"], {best: ["97.0"]})
    table["data"] = {"methods": found, "metric": "balanced accuracy", "test_rows": 114}
    page = minimal(documents=[table])
    own = {"own": "my data.csv", "target": "the label", "categorical": ["zip"]}
    page.facts["config"] |= own
    return " ".join(rendered(page).split())


def test_the_page_of_own_data_answers_its_owner():
    html = own_page()
    assert "XGB scores highest" in html and "<b>97.0 %</b> (95 % interval: 95.0 to 98.0 %)" in html
    assert "IUNET: <b>95.5 %</b> (93.5 to 96.5 %), 1.5 points lower." in html
    assert "With so few rows, it cannot be told apart from IUNET." in html
    fit = (
        "iunet fit &#39;my data.csv&#39; --target &#39;the label&#39; --categorical zip --out model"
    )
    assert fit in html and "<code>results/own/runs/x/xgb/seed0</code>" in html
    assert re.findall(r'<section id="([^"]+)"', html) == ["answer", "run"]
    assert "points lower" not in own_page("IUNET")
