"""The report page as a file: findings, escaping, determinism, missing data, bad input."""

from __future__ import annotations

import base64
import copy
import io
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from sample_page import ROOT, document, page_data, sample_bundle, text_table

from iunet.errors import UserError
from iunet.page.build import PDF_BYTES, agreement_rows, duration, write_page
from iunet.page.bundle import bundle_from
from iunet.page.decisions import ABSENT, lookup, read_decisions
from iunet.page.documents import agreement, judged_by_spread, missing_by_reason
from iunet.page.facts import budgets, environments, git_state, job_times, newest
from iunet.page.findings import headline_findings, method_of
from iunet.page.view import letters, number_text, table_view

TEMPLATE = ROOT / "reports" / "page"


def cell(mean=None, paper=None, agrees=None, missing=None, metric="accuracy") -> dict:
    return {
        "values": {} if mean is None else {metric: {"mean": mean, "std": None, "n": 1}},
        "paper": None if paper is None else {"mean": paper, "std": 0.1, "metric": metric},
        "difference": None if None in (mean, paper) else mean - paper,
        "agrees": agrees,
        "missing": missing,
    }


def small_table(name: str, cells: dict[str, dict[str, dict]], **content) -> dict:
    columns = list(dict.fromkeys(key for row in cells.values() for key in row))
    return document(
        name,
        name.title(),
        rows=[{"key": key, "labels": [key]} for key in cells],
        columns=[{"key": key, "label": key.upper()} for key in columns],
        cells=cells,
        **content,
    )


def minimal(**content) -> dict:
    return {"facts": {"config_name": "config/test.yaml", "config": {"seeds": [0]}}} | content


def rendered(folder: Path, bundle: dict) -> str:
    write_page(bundle, folder / "page.html", TEMPLATE)
    return (folder / "page.html").read_text(encoding="utf-8")


# ---------------------------------------------------------------- findings


def finding(name: str, *tables: dict):
    order = ["vision", "tabular", "consistency", "ablation", "agreement"]
    return headline_findings(tables)[order.index(name)]


@pytest.mark.parametrize("transposed", [False, True])
def test_vision_order_counts_cases_with_all_three_whichever_way_the_table_lies(transposed):
    values = {
        "mlp_vis/cifar10": {"dense": 50.0, "omp": 51.0, "beta_lasso": 40.0, "iunet": 54.0},
        "mlp_vis/svhn": {"dense": 80.0, "omp": 79.0, "beta_lasso": 99.0, "iunet": 81.0},
        "resnet18/svhn": {"dense": 80.0, "omp": None, "beta_lasso": 99.0, "iunet": 81.0},
    }
    cells: dict = {}
    for case, methods in values.items():
        for method, mean in methods.items():
            row, column = (method, case) if transposed else (case, method)
            cells.setdefault(row, {})[column] = cell(mean, missing=None if mean else "not finished")
    found = finding("vision", small_table("table1", cells))
    assert found.value == "1 of 2"
    assert "+2.50 points from OMP and +2.50 from the dense" in found.text


def test_methods_in_keys_that_also_name_the_network():
    assert method_of("mlp_vis/iunet_no_ilo") == ("iunet_no_ilo", "mlp_vis")
    assert method_of("iunet_mlp_vis") == ("iunet", "mlp_vis")
    assert method_of("mlp_tab") == ("dense", "")
    assert method_of("cifar10") == (None, "cifar10")


def test_best_tabular_method_ties_and_the_papers():
    ranks = {
        "iunet": cell(2.0, 3.225, metric="value"),
        "xgb": cell(2.0, 3.8, metric="value"),
        "mlp_c": cell(3.0, 2.588, metric="value"),
        "tabnet": cell(missing="not finished"),
    }
    table = small_table("table2", {"average_rank": ranks}, metrics=["value"])
    table["default_metric"] = "value"
    found = finding("tabular", table)
    assert found.value == "IUNET and XGB"
    assert "share the best average rank" in found.text
    assert "2.000 among 3 methods" in found.text
    assert "In the paper it is MLP_C with 2.588." in found.text


def test_consistency_change_merges_tables_3_and_5():
    labels = {"supernet_distinct_labels": cell(10.0), "iunet_distinct_labels": cell(1.0)}
    pair = {"supernet": cell(40.0), "iunet": cell(70.0)} | labels
    worse = {"supernet": cell(50.0), "iunet": cell(40.0)}
    third = small_table("table3", {"cifar10/resize": pair})
    fifth = small_table("table5", {"cifar10/resize": pair, "svhn/horiz": worse})
    found = finding("consistency", third, fifth)
    assert found.value == "+10.00"
    assert "rises in 1 of 2 pairs" in found.text


def test_ablation_names_the_part_that_costs_most():
    row = {"iunet": cell(80.0), "iunet_no_pis": cell(81.0), "iunet_no_ilo": cell(77.5)}
    found = finding("ablation", small_table("table4", {"mlp_tab/vehicle": row}))
    assert found.value == "−2.50"
    assert "lost without ILO" in found.text
    assert "without PIS +1.00 (on 1 data set)" in found.text


def test_agreement_counts_every_kind():
    row = {
        "a": cell(1.0, 1.0, "yes"),
        "b": cell(2.0, 1.0, "no"),
        "c": cell(2.0, 1.0, "n/a"),
        "d": cell(None, 1.0, None, "not finished"),
        "e": cell(2.0, 1.0, "off by one"),
        "f": cell(2.0),
    }
    table = small_table("table6", {"x": row})
    assert agreement(table) == {"yes": 1, "no": 1, "n/a": 1, "missing": 1, "off by one": 1}
    found = finding("agreement", table)
    assert found.value == "1 of 3"
    assert "1 do not" in found.text
    assert "1 of the paper's cells are missing" in found.text
    repeated = small_table("metrics_tabular", {"x": row})
    assert finding("agreement", table, repeated) == found


def test_agreement_stands_beside_what_chance_gives():
    """Only where standard deviations decide: counts of data are equal or not."""
    row = {agrees: cell(1.0, 1.0, agrees) for agrees in ("yes", "no", "n/a")}
    row["exact"] = row["yes"] | {"paper": row["yes"]["paper"] | {"std": None}}
    row["gone"] = cell(None, 1.0, None, "not finished")
    table, exact = (
        small_table("table6", {"x": row}),
        small_table("table8", {"x": {"a": row["exact"]}}),
    )
    assert judged_by_spread(table) == {"yes": 1, "no": 1}
    found = finding("agreement", table, exact)
    assert found.value == "3 of 4"  # those of the two tables together
    assert "Of the 2 judged by their spread, 1 agree; 1.9 would if all were equal." in found.text
    assert [r["expected"] for r in agreement_rows([table, exact])] == [pytest.approx(1.9), None]
    assert table_view(table).expected == pytest.approx(1.9)
    assert table_view(exact).expected is None


def test_findings_without_any_data_say_so():
    empty = small_table("table1", {"cifar10": {"iunet": cell(missing="not finished")}})
    for tables in ([], [empty]):
        found = headline_findings(tables)
        assert {entry.value for entry in found} == {"—"}
        assert all("not known yet" in f.text or "No cell" in f.text for f in found)


# ---------------------------------------------------------------- the file


def test_the_page_is_one_deterministic_file(tmp_path):
    bundle = sample_bundle(tmp_path)
    before = copy.deepcopy(bundle)
    first = rendered(tmp_path, bundle)
    assert bundle == before
    assert rendered(tmp_path, bundle) == first
    links = re.findall(r"""\b(?:src|href)="([^"]*)"|url\(([^)]*)\)""", first)
    assert len(links) > 50
    assert [link for link in map("".join, links) if not link.startswith(("#", "data:"))] == []
    assert "@import" not in first
    assert "https://www.openml.org" in first  # as text, in the config
    for part in ("Table 7: all tabular", "data:image/webp;base64,", "data:application/pdf;base64,"):
        assert part in first


def test_hostile_text_stays_text(tmp_path):
    attack = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&\u2028'
    table = small_table("table1", {attack: {"iunet": cell(1.0)}}, notes=[attack], caption=attack)
    table["cells"][attack]["iunet"]["notes"] = [attack]
    page = rendered(tmp_path, minimal(title=attack, tables=[table], limits=[attack]))
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img src=x" not in page
    assert page_data(page)["table1"]["cells"][attack]["iunet"]["notes"] == [attack]


def test_the_data_for_downloads_are_short(tmp_path):
    table = small_table("table1", {"a": {"iunet": cell(59.96588693957114)}})
    page = rendered(tmp_path, minimal(tables=[table]))
    kept = page_data(page)["table1"]["cells"]["a"]["iunet"]
    assert kept["values"]["accuracy"]["mean"] == 59.965887
    assert "missing" not in kept and "notes" not in kept
    assert 'data-number="59.965887"' in page


def test_missing_cells_are_marked_grouped_and_collected(tmp_path):
    cells = {
        "vehicle": {"iunet": cell(80.0), "xgb": cell(missing="not finished")},
        "nomao": {
            "iunet": cell(missing="not in the mirror"),
            "xgb": cell(missing="not in the mirror"),
        },
        "gap": {"iunet": cell(1.0)},
    }
    table = small_table("table7", cells)
    reasons = {
        "not finished": ["vehicle (XGB)"],
        "not in the mirror": ["nomao"],
        "no such run": ["gap (XGB)"],
    }
    assert missing_by_reason(table) == reasons
    bundle = minimal(tables=[table], unavailable={"nomao": "not in the mirror"})
    page = rendered(tmp_path, bundle)
    assert page.count('class="none" tabindex="0"') == 4
    assert "<b>Missing</b> (not in the mirror): nomao." in page
    section = page[page.index('<section id="missing">') :]
    assert "1 data set is not available" in section
    assert all(reason in section for reason in reasons)


def test_an_empty_bundle_still_makes_a_page(tmp_path):
    page = rendered(tmp_path, minimal())
    assert "No table has a value of the paper." in page
    links, ids = (set(re.findall(f'{kind}="#?([^"]*)"', page)) for kind in ("href", " id"))
    assert len(links) > 5 and links - ids == {"data:,"}
    assert "Nothing: every cell of every table has a value." in page
    assert "The evidence, computed from the test splits, is missing from this run." in page


def broken(change) -> dict:
    table = small_table("table1", {"cifar10": {"iunet": cell(1.0, 2.0, "no")}})
    change(table)
    return table


REFUSED = {
    "nan": (lambda t: t["cells"]["cifar10"]["iunet"]["values"]["accuracy"].update(mean=math.nan),
            "mean = nan, which is no finite number"),
    "text": (lambda t: t["cells"]["cifar10"]["iunet"]["paper"].update(std="0.1"),
             "std = '0.1', which is no number"),
    "row": (lambda t: t["cells"].update(svhn={}), "a cell at 'svhn', outside"),
    "column": (lambda t: t["cells"]["cifar10"].update(omp=cell(1.0)), "'cifar10' × 'omp', outside"),
    "twice": (lambda t: t["rows"].append(t["rows"][0]), "'cifar10' twice in its rows"),
    "labels": (lambda t: t["rows"][0].update(labels=[]), "has 0 labels"),
    "default": (lambda t: t.update(default_metric="f1"), "default metric 'f1'"),
    "metric": (lambda t: t.update(metrics=["value"], default_metric="value"),
               "metric 'accuracy', which its table does not list"),
    "both": (lambda t: t["cells"]["cifar10"]["iunet"].update(missing="died"), "is marked missing"),
    "key": (lambda t: t.pop("columns"), "lacks the key 'columns'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_contradictory_documents_are_refused_by_name(case):
    change, fragment = REFUSED[case]
    with pytest.raises(UserError) as caught:
        bundle_from(minimal(tables=[broken(change)]))
    assert "'table1'" in str(caught.value)
    assert fragment in str(caught.value)


def test_bundle_errors_name_the_key_or_the_file(tmp_path):
    with pytest.raises(UserError, match=r"unknown key 'tabels'.*Did you mean 'tables'"):
        bundle_from(minimal(tabels=[]))
    with pytest.raises(UserError, match=r"incomplete in facts.*config_name"):
        bundle_from({"facts": {"config": {}}})
    figure = {"id": "figure2", "title": "Figure 2"}
    with pytest.raises(UserError, match="'figure2' has neither a png nor a reason"):
        bundle_from(minimal(figures=[figure]))
    with pytest.raises(UserError, match=r"'figure2' names .*gone\.png"):
        bundle_from(minimal(figures=[figure | {"png": str(tmp_path / "gone.png")}]))
    (tmp_path / "fake.png").write_text("no image")
    with pytest.raises(UserError, match="is no PNG"):
        rendered(tmp_path, minimal(figures=[figure | {"png": str(tmp_path / "fake.png")}]))
    Image.new("RGB", (300, 200), "white").save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:-80])
    with pytest.raises(UserError, match="is no PNG"):
        rendered(tmp_path, minimal(figures=[figure | {"png": str(tmp_path / "cut.png")}]))
    table = small_table("table1", {"a": {"b": cell(1.0)}})
    with pytest.raises(UserError, match="two parts with the id 'table1'"):
        bundle_from(minimal(tables=[table, table]))


def test_figures_keep_every_pixel_and_large_pdfs_stay_outside(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "figure2.png")
    (tmp_path / "figure2.pdf").write_bytes(b"%PDF" + bytes(PDF_BYTES // 2))
    names = {kind: str(tmp_path / f"figure2.{kind}") for kind in ("png", "pdf")}
    figure = {"id": "figure2", "title": "Figure 2", **names}
    page = rendered(tmp_path, minimal(figures=[figure]))
    (embedded,) = re.findall(r"data:image/webp;base64,([^\"]+)", page)
    shown = Image.open(io.BytesIO(base64.b64decode(embedded)))
    np.testing.assert_array_equal(np.asarray(shown), pixels)
    assert "data:application/pdf" in page
    page = rendered(tmp_path, minimal(figures=[figure, figure | {"id": "figure3"}]))
    assert "data:application/pdf" not in page and page.count("data:image/webp") == 2


# ---------------------------------------------------------------- decisions, facts, numbers


def test_every_key_of_a_decision_is_in_the_config_with_the_decided_value():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    decisions = read_decisions(ROOT / "reports" / "decisions.yaml", config)
    values = [value for decision in decisions for value in decision.values]
    assert len(decisions) > 30 and len(values) > 20
    assert [v.key for v in values if v.value is None or v.changed] == []


def test_a_changed_decision_shows_both_values(tmp_path):
    path = tmp_path / "decisions.yaml"
    entry = {"topic": "Epochs", "decision": "100", "source": "ours", "keys": {"train.epochs": 100}}
    path.write_text(yaml.safe_dump([entry]))
    bundle = minimal(decisions=str(path))
    bundle["facts"]["config"] = {"train": {"epochs": 5}}
    page = rendered(tmp_path, bundle)
    assert '<code class="live">5</code> <span class="chip no">decided: 100</span>' in page
    path.write_text(yaml.safe_dump([{"topic": "Epochs"}]))
    with pytest.raises(UserError, match=r"Decision 1 in .* lacks the key 'decision'"):
        rendered(tmp_path, bundle)


def test_lookup_of_names_with_dots():
    config = {"methods": {"sup_kappa0.125": {"kappa": 0.125}}}
    assert lookup(config, "methods.sup_kappa0.125.kappa") == 0.125
    assert lookup(config, "methods.omp.kappa") is ABSENT


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
    assert [duration(s) for s in (2.04, 61, 3725)] == ["2.0 s", "1 min 01 s", "1 h 02 min"]


def test_one_seed_shows_no_standard_deviation_and_ties_are_all_bold():
    row = {"a": cell(1.0), "b": cell(1.0)}
    for entry in row.values():
        entry["values"]["accuracy"]["best"] = True
    values = [c.values[0] for c in table_view(small_table("t", {"x": row})).rows[0]["cells"]]
    assert [(v.text, v.spread, v.best) for v in values] == [("1.000", "", True)] * 2


def test_counts_given_as_text_lend_their_decimals_to_the_papers_value():
    ours, gone = cell(538.0, 539.0, "no"), cell(None, 120.0, None, "not in the mirror")
    ours["values"]["accuracy"]["text"] = "538"
    view = table_view(small_table("table9", {"a": {"n_train": ours}, "b": {"n_train": gone}}))
    first, second = (row["cells"][0] for row in view.rows)
    assert (first.paper.text, first.values[0].text, first.difference.text) == ("539", "538", "−1")
    assert second.paper.text == "120"


def test_text_cells_are_shown_as_they_are():
    table = text_table("cost", "Cost", "Method", ["Time"], {"XGB": ["9 h 02 min"]})
    assert table_view(table).rows[0]["cells"][0].values[0].text == "9 h 02 min"
