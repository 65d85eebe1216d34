"""The ledger of claims: effects from frames of runs, remarks, and its forms."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from configs import merged
from run_frames import frame_of, run

from iunet.tables.claims import CLAIMS, COLUMNS, CPU_SCALE, find, ledger, unequal_terms
from iunet.tables.differences import (
    MEASURES,
    Finding,
    best_of_family,
    cheaper,
    compared,
    metric_of_table7,
    more_consistent,
    near_the_cnn,
    one_setting,
    paired,
)
from iunet.tables.verdicts import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED, Effect

FACTS = {"kinds": {"cifar10": "vision", "vehicle": "tabular"}, "scaled_down": {}}
FACTS |= {"stand_ins": [], "subsets": {}}
CLAIM = {claim.key: claim for claim in CLAIMS}


row = run  # of a frame


def pairs_of(rows: list[dict], ours: str, theirs: str, column="test_primary", on=("network",)):
    """Both values by data set and seed."""
    frame = frame_of(*rows)
    sides = (frame[frame["method"] == method] for method in (ours, theirs))
    return {key: tuple(pair) for key, pair in paired(*sides, column, on).T.items()}


def test_every_claim_compares_two_methods_or_has_a_measure():
    assert len(CLAIM) == len(CLAIMS) == 18 and MEASURES.keys() <= CLAIM.keys()
    for claim in CLAIMS:
        plain = all([claim.ours, claim.theirs, claim.column])
        without_runs = claim.key in ("metric", "on_top")
        assert [plain, claim.key in MEASURES, without_runs].count(True) == 1, claim.key


# ---- both sides


def test_scores_are_means_over_networks_that_both_have():
    rows = [
        row("cifar10", "mlp_vis", "iunet", 0, 64.0),
        row("cifar10", "mlp_vis", "omp", 0, 60.0),
        row("cifar10", "resnet18", "iunet", 0, 84.0),
        row("cifar10", "resnet18", "omp", 0, 76.0),
        row("cifar10", "cnn", "iunet", 0, 99.0),  # OMP has no such run
    ]
    assert pairs_of(rows, "iunet", "omp") == {("cifar10", 0): (74.0, 68.0)}


def test_tables_count_in_balanced_accuracy():
    rows = [
        row("vehicle", "mlp_tab", "iunet", 0, 70.0) | {"test_balanced_accuracy": 55.0},
        row("vehicle", "mlp_c", "mlp_c", 0, 70.0) | {"test_balanced_accuracy": 54.0},
    ]
    assert pairs_of(rows, "iunet", "mlp_c", on=()) == {("vehicle", 0): (55.0, 54.0)}


def test_a_ratio_that_is_not_finished_takes_no_seeds_away():
    cuts = [("ratio8", 0), ("ratio8", 1), ("ratio8", 2), ("ratio2", 0)]
    rows = [
        row("cifar10", "mlp_vis", method, seed, 60.0, cut=cut)
        for method in ("omp", "scl")
        for cut, seed in cuts
    ]
    found = pairs_of(rows, "omp", "scl", "test_accuracy", ("network", "cut"))
    assert [seed for _, seed in found] == [0, 1, 2]


def test_only_common_seeds_and_finished_data_sets_count():
    scores = {"iunet": {"a": 3, "b": 3, "c": 1}, "omp": {"a": 2, "b": 2, "c": 3}}
    rows = [
        row(name, "mlp_tab", method, seed, 60.0 + (method == "iunet"))
        for method, sets in scores.items()
        for name, n_seeds in sets.items()
        for seed in range(n_seeds)
    ]
    assert list(pairs_of(rows, "iunet", "omp")) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    rows.append(row("c", "mlp_tab", "iunet", 1, failed="diverged"))  # it is finished
    assert list(pairs_of(rows, "iunet", "omp"))[-1] == ("c", 0)
    assert pairs_of(rows, "iunet", "scl") == {}
    found = compared(frame_of(*rows), "iunet", "omp", "test_primary").differences
    assert found["a", 0] == 1  # ours − theirs


def test_one_setting_for_all_needs_several_image_sets():
    rows = [
        row(dataset, "mlp_vis", method, 0, score, cut="ratio8")
        for dataset in ("cifar10", "svhn")
        for method, score in (("iunet", 64.0), ("omp", 60.0))
    ]
    both = one_setting(frame_of(*rows))
    assert dict(both.differences) == {("cifar10", 0): 4.0, ("svhn", 0): 4.0}
    rows[2:] = [r | {"missing": "not finished", "test_accuracy": None} for r in rows[2:]]
    found = one_setting(frame_of(*rows))
    assert found.differences.empty and "only cifar10 ran" in found.remarks[0]
    found = find(CLAIM["one_setting"], {"search_fixed_ratio": frame_of(*rows[:2])})
    assert found.verdict == NOT_RUN  # no other was asked for


def test_what_is_missing_or_cut_off_is_said():
    rows = [
        row("cifar10", "mlp_vis", "iunet", 0, 64.0),
        row("cifar10", "mlp_vis", "omp", 0, 60.0, disconnected=True),
        row("svhn", "mlp_vis", "omp", 0, missing="not in the mirror"),
    ]
    found = compared(frame_of(*rows), "iunet", "omp", "test_primary", ("network",))
    assert found.remarks == [
        "svhn: not in the mirror",
        "1 of 2 masks of OMP are disconnected",
    ]


def test_the_best_rival_of_the_family_counts():
    rows = [
        row(f"set{i}", "mlp_tab", method, seed, score + i)
        for i in range(6)
        for seed in (0, 1)
        for method, score in {"iunet": 80.0, "omp": 79.0, "dense": 78.0, "beta_lasso": 77.0}.items()
    ]
    found = best_of_family(frame_of(*rows))
    assert found.differences["set0", 0] == found.differences["set0", 1] == 1.0
    assert found.remarks == ["best rival: OMP"]
    assert find(CLAIM["best_family"], {"table7": frame_of(*rows)}).verdict == REPRODUCED
    alone = find(
        CLAIM["best_family"], {"table7": frame_of(row("set0", "mlp_tab", "iunet", 0, 1.0))}
    )
    assert alone == Finding(None, NOT_RUN, ["its methods are not in this run"])


def test_laziness_compares_at_the_same_ratio():
    overlaps = [("omp", "ratio2", 0.9), ("omp", "ratio8", 0.8), ("iunet", "ratio8", 0.5)]
    frame = frame_of(
        *(row("cifar10", "mlp_vis", m, 0, cut=cut, mask_overlap=o) for m, cut, o in overlaps)
    )
    found = find(CLAIM["lazy"], {"laziness": frame})
    assert found.effect.mean == pytest.approx(0.3)


def test_consistency_counts_all_transforms_and_tells_of_constant_predictors():
    values = {("supernet", "resize"): 40, ("supernet", "horiz"): 60, ("iunet", "resize"): 100}
    values |= {("iunet", "horiz"): 90}
    frame = pd.DataFrame(
        [
            row("cifar10", "mlp_vis", method, 0, transform=transform, same=float(same))
            | {"distinct_labels": 1 if same == 100 else 5, "missing": None, "failed": None}
            for (method, transform), same in values.items()
        ]
    )
    found = more_consistent(frame)
    assert found.differences["cifar10", 0] == 45.0
    assert found.remarks == ["in 1 of 2 cases the subnetwork predicts one label for all rows"]


def test_a_cnn_below_the_dense_mlp_is_no_bound():
    below = "no reference on cifar10: the CNN is below the dense MLP (37.0 and 43.0 %)"
    for cnn, said in ((37.0, [below]), (60.0, [])):
        rows = [row("cifar10", "mlp_vis", "iunet", 0, 49.0), row("cifar10", "cnn", "dense", 0, cnn)]
        rows += [row("cifar10", "mlp_vis", "dense", 0, 43.0)]
        rows += [row("cifar10", "resnet18", "dense", 0, 99.0)]
        assert near_the_cnn(frame_of(*rows)).remarks == said


def test_of_few_data_sets_each_has_its_own_interval():
    scores_of = {"iunet": {"cifar10": 50.0, "svhn": 80.0}, "omp": {"cifar10": 40.0, "svhn": 75.0}}
    rows = [
        row(dataset, "mlp_vis", method, seed, score + 0.1 * seed)
        for method, sets in scores_of.items()
        for dataset, score in sets.items()
        for seed in range(3)
    ]
    found = find(CLAIM["omp_images"], {"table1": frame_of(*rows)})
    assert found.remarks == [
        "over seeds alone: cifar10 +10.00 [+10.00, +10.00], svhn +5.00 [+5.00, +5.00]"
    ]
    assert found.verdict == UNDECIDED  # of two sets an interval over sets is as wide as this
    alone = frame_of(*(r for r in rows if r["dataset"] == "svhn"))
    one = find(CLAIM["omp_images"], {"table1": alone})
    assert one.remarks == [] and one.verdict == REPRODUCED


def first_layer(dataset: str, method: str, ratio: float, cut: str = "ratio8", **facts) -> dict:
    facts |= {"first_layer_measure": "raw features", "first_layer_ratio": ratio}
    facts["first_layer_wide_features"] = int(dataset == "adult")
    return row(dataset, "mlp_tab", method, 0, cut=cut, **facts)


selective = MEASURES["selective"]


def test_locality_is_a_part_of_omps_ratio_and_leaves_out_what_cannot_move():
    rows = [first_layer("adult", "omp", 0.8), first_layer("adult", "iunet", 0.6)]
    rows.append(first_layer("vehicle", "omp", 1.0))
    found = selective(frame_of(*rows))
    assert dict(found.differences) == {("adult", 0): pytest.approx(25.0)}
    assert found.remarks == ["without vehicle: no feature of several columns"]
    denser = first_layer("adult", "omp", 1.0, cut="ratio2")  # IUNET has no such mask
    found = selective(frame_of(*rows, denser))
    assert found.differences["adult", 0] == pytest.approx(25.0)
    rows[0]["disconnected"] = True
    remarks = selective(frame_of(*rows)).remarks
    assert "1 of 1 masks of OMP are disconnected" in remarks


SECONDS = [("iunet", 10.0), ("xgb", 120.0), ("mlp_c", 50.0)]


def test_costs_are_compared_set_by_set_with_the_cheapest_rival():
    rows = [
        ("a", "iunet", 0, 10.0, None),
        ("a", "xgb", None, 100.0, None),
        ("a", "xgb", 0, 20.0, None),
        ("a", "mlp_c", 0, 50.0, None),
        ("b", "iunet", 0, 1000.0, None),
        ("b", "xgb", 0, None, "not finished"),
    ]
    names = ["dataset", "method", "seed", "seconds", "missing"]
    found = cheaper(pd.DataFrame(rows, columns=names).assign(trials=0))
    assert found.effect.mean == pytest.approx(5.0) and found.effect.low is None
    assert found.effect.datasets == ["a"] and found.verdict == UNDECIDED
    assert "XGB 12, MLP_TAB+C 5" in found.remarks[0] and "without b" in found.remarks[1]
    assert "no interval" in found.remarks[2]
    more = [(set_, m, 0, s * k, None) for k, set_ in enumerate("cde", 1) for m, s in SECONDS]
    frame = pd.DataFrame([*rows, *more], columns=names).assign(trials=0)
    found = cheaper(frame)
    assert found.effect.low == pytest.approx(5) and found.verdict == REPRODUCED
    found = find(CLAIM["cheaper"], {"cost": frame.assign(missing="not finished")})
    assert found.verdict == NOT_RUN


def test_the_metric_of_table_7_contradicts_itself():
    found = metric_of_table7()
    assert found.verdict == NOT_REPRODUCED and found.effect.mean < 50
    assert "majority rate" in found.remarks[0]


# ---- the ledger


ONE_SET = "about cifar10 only, interval over seeds"


def made(**of_claims: Finding):
    found = {claim.key: Finding(None, NOT_RUN, ["not here"]) for claim in CLAIMS}
    return ledger(found | of_claims, FACTS)


def test_every_claim_has_a_row_with_a_verdict():
    effect = Effect(5.25, 1.0, 9.5, ["cifar10"], 3)
    table = made(omp_images=Finding(effect, REPRODUCED))
    assert [row.key for row in table.rows] == [claim.key for claim in CLAIMS]
    texts = {key: table.cell("omp_images", key).values["value"].text for key in COLUMNS}
    assert texts["effect"] == "+5.25 points" and texts["interval"] == "1.00 to 9.50"
    assert texts["smallest"] == "1 point"
    assert texts["verdict"] == REPRODUCED and texts["remarks"] == ONE_SET
    assert table.cell("on_top", "verdict").values["value"].text == NOT_RUN
    lines = {line["key"]: line for line in csv.DictReader(io.StringIO(table.own_csv))}
    assert len(lines) == len(CLAIMS) and lines["omp_images"]["low"] == "1.0"
    assert lines["level_mlp_c"]["equality"] == "True"


def test_scaled_down_images_are_a_cpu_scale_study():
    effect = Effect(5.0, 1.0, 9.0, ["cifar10"], 3)
    facts = FACTS | {"scaled_down": {"vision": ["networks.mlp_vis.alpha 1 for 8"]}}
    found = {claim.key: Finding(effect, REPRODUCED) for claim in CLAIMS}
    table = ledger(found, facts)
    line = table.data["claims"][0]
    assert line["remarks"][0] == CPU_SCALE
    assert any("networks.mlp_vis.alpha 1 for 8" in note for note in table.notes)
    stand_in = ledger(found, FACTS | {"stand_ins": ["cifar10"]}).data["claims"][0]
    assert stand_in["remarks"] == [CPU_SCALE, ONE_SET, "stand-ins: cifar10"]
    subset = ledger(found, FACTS | {"subsets": {"cifar10": "8000 rows"}})
    assert "subsets: cifar10" in subset.data["claims"][0]["remarks"]


def test_tables_are_no_cpu_scale_study_of_images():
    effect = Effect(5.0, 1.0, 9.0, ["vehicle"], 3)
    facts = FACTS | {"scaled_down": {"tabular": ["networks.mlp_tab.depth 2 for 9"]}}
    found = {claim.key: Finding(effect, UNDECIDED) for claim in CLAIMS}
    line = ledger(found, facts).data["claims"][0]
    assert CPU_SCALE not in line["remarks"]
    assert "less than in the paper: networks or training on tables" in line["remarks"]


def test_unequal_terms_and_mixed_data_stand_beside_a_claim():
    config = merged()
    both = "MLP+C is refitted on train and valid and weights its classes, IUNET not"
    assert unequal_terms(config) == both
    config["tuning"]["refit_on"] = "train"
    assert unequal_terms(config) == "MLP+C weights its classes, IUNET not"
    config["train"]["class_weights"] = "balanced"
    assert unequal_terms(config) is None
    effect = Effect(5.0, 1.0, 9.0, ["cifar10", "vehicle"], 3)
    found = {claim.key: Finding(effect, REPRODUCED) for claim in CLAIMS}
    lines = {x["key"]: x for x in ledger(found, FACTS | {"unequal": both}).data["claims"]}
    with_it = [key for key, line in lines.items() if both in line["remarks"]]
    assert with_it == ["level_mlp_c"]
    assert "tables and images together" in lines["pis"]["remarks"]


@pytest.mark.parametrize(("trials", "verdict"), [(600, NOT_REPRODUCED), (599, UNDECIDED)])
def test_a_rival_with_a_smaller_budget_does_not_show_that_it_is_cheaper(trials, verdict):
    seconds = [("iunet", 0, 100.0, 0), ("xgb", None, 10.0, trials), ("xgb", 0, 1.0, 0)]
    seconds += [("mlp_c", None, 500.0, 5)]  # its small budget is of no weight: XGB is cheaper
    rows = [
        (d, m, seed, s * k, n, None) for k, d in enumerate("ab", 1) for m, seed, s, n in seconds
    ]
    names = ["dataset", "method", "seed", "seconds", "trials", "missing"]
    found = cheaper(pd.DataFrame(rows, columns=names))
    assert found.effect.mean == pytest.approx(0.11) and found.verdict == verdict
    said = "XGB would cost more with the paper's 600 trials; it had as few as 599"
    assert (said in found.remarks) == (trials < 600)


def test_a_claim_of_equality_says_in_which_direction_it_fails():
    effect = Effect(-9.0, -12.0, -5.0, ["vehicle"], 3)
    found = {claim.key: Finding(effect, NOT_REPRODUCED) for claim in CLAIMS}
    (line,) = (x for x in ledger(found, FACTS).data["claims"] if x["key"] == "omp_dense")
    assert "less, by more than the smallest effect" in line["remarks"]
