"""The study's documents: filled tables from rows made up here, and the published ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from study_rows import frame, row, study

from iunet.errors import UserError
from iunet.study.__main__ import main, read_config
from iunet.study.frames import SWEEPS, comparisons
from iunet.study.publish import MARKED, documents, fill
from iunet.study.table7 import (
    cells_beside_paper,
    far_table,
    metric_table,
    tuned_cells,
    tuned_means_table,
    tuned_table,
)
from iunet.study.tables import (
    comparisons_tables,
    differences_table,
    filled_tables,
    front_table,
    overlaps_table,
    progress_table,
    sweeps_tables,
)

STUDY = ROOT / "reports" / "cpu-study"


@pytest.fixture(scope="module")
def published() -> dict[str, str]:
    return filled_tables(STUDY)


def test_every_filled_table_is_what_the_rows_give(published):
    used = set()
    for path in documents(STUDY):
        text = path.read_text(encoding="utf-8")
        assert fill(text, published, path) == text, f"{path}: run python -m iunet.study refresh"
        used |= {name for _, name, _ in MARKED.findall(text)}
    assert used == set(published)


def test_every_number_of_the_findings_stands_in_a_table(published):
    """Differences and percentages of the hand-written words, which a new run may change."""
    details = (STUDY / "details.md").read_text(encoding="utf-8")
    by_hand = [line for line in details.splitlines() if line.startswith("|")]  # the real size
    in_tables = set(numbers("\n".join([*published.values(), *by_hand])))
    first, study = (findings(path) for path in (ROOT / "README.md", STUDY / "README.md"))
    assert len(numbers(study)) >= 15 and set(numbers(study)) <= in_tables
    assert first == study.replace("../../docs/", "docs/")


def findings(path: Path) -> str:
    """The five findings, without line breaks: README and the study have the same words."""
    text = path.read_text(encoding="utf-8")
    return " ".join(text[text.index("1. **On small tables") :].partition("\n\n")[0].split())


def numbers(text: str) -> list[str]:
    """Signed numbers, counts of a whole and percentages."""
    return re.findall(r"[+-]?\d+\.\d+|\d+ of\s+\d+|\d[\d.]* %", " ".join(text.split()))


def test_a_document_is_filled_between_its_markers():
    text = "Before.\n<!-- table: claims -->\nold\n<!-- end -->\nAfter.\n"
    new = fill(text, {"claims": "| new |"}, Path("README.md"))
    assert new == "Before.\n<!-- table: claims -->\n| new |\n<!-- end -->\nAfter.\n"
    with pytest.raises(UserError, match=r"README\.md has a place for the table 'claims'"):
        fill(text, {"front": ""}, Path("README.md"))


# ---- comparisons


def test_the_details_name_the_set_that_decides_a_verdict():
    rows = study(0.9)
    for entry in rows:
        if (entry["method"], entry["dataset"]) == ("iunet", "c"):
            entry["test_balanced_accuracy"] += 1.2
    head, _, line = front_table(comparisons(frame(rows))).splitlines()
    assert head == "|  | 6 tables | beyond them |"
    assert line.startswith("| IUNET beats OMP | **reproduced** +1.10 [")
    assert "] | reproduced [" in line
    rows = [r | {"disconnected": True} if r["method"] == "omp" else r for r in rows]
    details = comparisons_tables(comparisons(frame(rows)))
    assert "| 6, +0.90 | cut off: a, b, c, d, e, f; another verdict without c |" in details
    lines = differences_table(frame(rows)).splitlines()
    assert "| c | +2.10 |" in lines and "| IUNET ahead | 6 of 6 |" in lines
    assert lines[-1].startswith("| mean without c, beyond | +0.90 [")
    assert lines[-1].endswith(", not reproduced |")


def test_only_tables_have_tuned_methods():
    rows = [r | {"network": n} for r in study(2.0) for n in ("mlp_tab", "mlp_vis")]
    tuned = {"stage": "tuned", "network": "mlp_c", "chosen": None}
    rows += [r | tuned | {"method": "mlp_c"} for r in study(0) if r["method"] == "omp"]
    (line,) = (x for x in front_table(comparisons(frame(rows))).splitlines() if "MLP+C" in x)
    assert line.endswith("| – | – |") and "+2.0" in line


# ---- beside the paper, masks, sweeps


def test_the_metric_that_is_nearer_to_the_paper():
    scores = {"test_swapped_balanced_accuracy": 64.0, "test_accuracy": 70.5}
    rows = [row("credit-g", "dense", 0, 60.0, **scores)]  # the paper: 70.0
    rows += [row("vehicle", method, 0, 81.1) for method in ("omp", "beta_lasso", "iunet")]
    cells = cells_beside_paper(frame(rows))
    assert cells["swapped"].to_dict() == {
        ("credit-g", "dense"): True,
        **{("vehicle", method): False for method in ("omp", "beta_lasso", "iunet")},
    }
    assert cells.loc["credit-g", "dense"]["gap"] == pytest.approx(0.5)
    assert metric_table(cells).endswith("| 1 of 4 |")


def test_cells_far_from_the_paper_stand_with_seeds_and_other_initial_weights():
    rows = [row("vehicle", "omp", seed, 75.0 + seed) for seed in (0, 1, 2)]  # the paper: 81.1
    rows += [
        row("vehicle", m, s, 79.5 + s) for m in ("dense", "beta_lasso", "iunet") for s in (0, 1)
    ]
    rows += [row("vehicle", "omp_he_normal", seed, 60.0) for seed in (0, 1)]
    runs = frame(rows)
    (line,) = far_table(cells_beside_paper(runs), runs).splitlines()[2:]
    same = "76.0 ± 1.0 | " * 3
    assert line == f"| vehicle | OMP | 81.1 | {same}60.0 ± 0.0 / 60.0 ± 0.0 / 60.0 ± 0.0 |"


def test_tuned_baselines_beside_the_papers():
    tuned = {"stage": "tuned", "chosen": None, "valid_balanced_accuracy": 71.5}
    tuned |= {"trials_complete": 150, "best_trial": 80}
    rows = [
        row("credit-g", m, seed, 66.9, network=m, **tuned)
        for m in ("xgb", "tabnet", "mlp_c")
        for seed in (0, 1)
    ]
    cells = tuned_cells(frame(rows))
    assert "| credit-g | 66.9 (-2.0), 150, 71.5 |" in tuned_table(cells)
    line = "| XGB | -2.0 | 150 | 600 | 1 of 1 | 71.5 | 66.9 |"
    assert line in tuned_means_table(cells).splitlines()


def test_overlaps_are_of_runs_that_methods_share():
    rows = [
        row(dataset, method, seed, 1.0, overlap_with_initial_mask=overlap + 0.1 * seed)
        for dataset in "ab"
        for method, overlap in (("omp", 0.7), ("iunet", 0.4))
        for seed in (0, 1)
    ]
    rows += [r | {"network": "mlp_vis", "dataset": "cifar10"} for r in rows[:4]]
    rows.append(row("c", "omp", 0, 1.0, overlap_with_initial_mask=0.0))  # IUNET has no such set
    rows.append(row("a", "ilo_lr16", 0, 1.0, overlap_with_initial_mask=0.0))  # not finished
    lines = overlaps_table(frame(rows)).splitlines()
    assert lines[0] == "| method | 2 tables | CIFAR10 |"
    assert {"| OMP | 0.75 | 0.75 |", "| IUNET | 0.45 | 0.45 |"} <= set(lines)
    assert "| ILO lr × 16 | – | – |" in lines


def test_progress_counts_methods_with_all_their_seeds():
    rows = [row("a", method, seed, 1.0, id=f"{method}{seed}") for method in "xy" for seed in (0, 1)]
    assert "| a | 4 | 2 | 0 |" in progress_table(frame(rows))
    assert "| a | 3 | 1 | 1 |" in progress_table(frame(rows[:3]))
    rows[0]["chosen"] = None  # a ratio that is a candidate of another method, too
    assert "| a | 4 | 1 | 1 |" in progress_table(frame(rows))


def test_a_sweep_shows_its_own_data_sets_and_the_difference_from_iunet():
    assert sweeps_tables(frame(study(2.0))) == ""  # IUNET alone is no sweep
    rows = study(2.0, ("vehicle", "credit-g"))
    rows += [row("vehicle", "iunet_kappa0.0625", seed, 75 + 0.1 * seed) for seed in range(3)]
    rows += [row("vehicle", "iunet_kappa0.015625", 2, 73.2)]
    head, _, *lines = sweeps_tables(frame(rows)).splitlines()
    assert head.startswith("| κ, ") and "| vehicle |" in head and "credit-g" not in head
    assert lines == [
        "| 1 | not run |",
        "| 1/4 | 72.1 |",
        "| 1/16 | 75.1 (+3.0 [+3.0, +3.0]) |",
        "| 1/64 | 73.2 (+1.0, one seed) |",  # beside IUNET's 72.2 with that seed
        "| 1/256 | not run |",
    ]


def test_every_sweep_compares_rows_of_the_studys_config():
    config = read_config()
    in_parts = {m for part in config["experiments"].values() for m in part["methods"]}
    for _, methods in SWEEPS.groupby("setting")["method"]:
        assert "iunet" in set(methods) and set(methods) <= in_parts


def test_a_part_that_the_study_does_not_have_is_refused(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["study", "run", "six_table"])
    with pytest.raises(UserError, match=r"no part 'six_table'.*six_tables, .*full_size, figure3"):
        main()
    assert capsys.readouterr().out == ""  # refused before anything is unpacked
