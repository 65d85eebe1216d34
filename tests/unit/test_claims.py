"""The ledger of claims: effects from frames of runs, remarks, and its forms."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from configs import merged
from run_frames import frame_of, run

from iunet.tables.claims import (
    CLAIMS,
    COLUMNS,
    CPU_SCALE,
    find,
    find_in_paper,
    ledger,
    unequal_terms,
)
from iunet.tables.differences import (
    MEASURES,
    best_of_family,
    cheaper,
    compared,
    metric_of_table7,
    more_consistent,
    near_the_cnn,
    one_setting,
    paired,
)
from iunet.tables.verdicts import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED, Effect, Finding

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
    assert len(CLAIM) == len(CLAIMS) == 22 and MEASURES.keys() <= CLAIM.keys()
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
    assert found.on_sets == NOT_RUN  # no other was asked for


def test_what_is_missing_or_cut_off_is_said():
    rows = [
        row("cifar10", "mlp_vis", "iunet", 0, 64.0),
        row("cifar10", "mlp_vis", "omp", 0, 60.0, disconnected=True),
        row("svhn", "mlp_vis", "omp", 0, missing="not in the mirror"),
    ]
    found = compared(frame_of(*rows), "iunet", "omp", "test_primary", ("network",))
    assert found.remarks == ["svhn: not in the mirror", "1 of 2 masks of OMP are disconnected"]


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
    assert find(CLAIM["best_family"], {"table7": frame_of(*rows)}).beyond == REPRODUCED
    alone = find(
        CLAIM["best_family"], {"table7": frame_of(row("set0", "mlp_tab", "iunet", 0, 1.0))}
    )
    assert alone == Finding(remarks=["its methods are not in this run"])


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


def test_a_part_of_the_gap_to_the_cnn_is_closed():
    below = "no reference on cifar10: the CNN is not above the dense MLP (37.0 and 43.0 %)"
    for cnn, said, share in ((37.0, [below], []), (63.0, [], [30.0])):
        rows = [row("cifar10", "mlp_vis", "iunet", 0, 49.0), row("cifar10", "cnn", "dense", 0, cnn)]
        rows += [row("cifar10", "mlp_vis", "dense", 0, 43.0)]
        rows += [row("cifar10", "resnet18", "dense", 0, 99.0)]
        found = near_the_cnn(frame_of(*rows))
        assert found.remarks == said and list(found.differences) == share


@pytest.mark.parametrize(
    ("unpruned", "pruned", "verdict"),
    [
        (50.0, 70.0, REPRODUCED),
        (65.0, 70.0, NOT_REPRODUCED),  # the unpruned network lies above the dense one
        (50.0, 58.0, NOT_REPRODUCED),  # the pruned one lies below it
    ],
)
def test_pruning_is_needed_if_both_comparisons_hold(unpruned, pruned, verdict):
    scores_of = {"dense": 60.0, "iunet_no_prune": unpruned, "iunet": pruned}
    rows = [
        row("cifar10", "mlp_vis", method, seed, score + 0.1 * seed)
        for method, score in scores_of.items()
        for seed in range(3)
    ]
    found = find(CLAIM["pruning"], {"table4": frame_of(*rows)})
    assert found.on_sets == verdict and found.effect.mean == pytest.approx(60 - unpruned)
    assert found.remarks[1].startswith("IUNET − Dense")


def first_layer(dataset: str, method: str, ratio: float, cut: str = "ratio8", **facts) -> dict:
    facts |= {"first_layer_measure": "raw features", "first_layer_ratio": ratio}
    facts["first_layer_wide_features"] = int(dataset == "adult")
    facts = {"layer_density": [0.1]} | facts
    return row(dataset, "mlp_tab", method, 0, cut=cut, **facts)


selective = MEASURES["selective"]


def test_locality_is_a_part_of_omps_ratio_and_leaves_out_what_cannot_move():
    rows = [first_layer("adult", "omp", 0.8), first_layer("adult", "iunet", 0.6)]
    rows.append(first_layer("vehicle", "omp", 1.0))
    found = selective(frame_of(*rows))
    assert dict(found.differences) == {("adult", 0): pytest.approx(25.0)}
    assert found.remarks == ["without vehicle: no feature of several columns"]
    rows[0]["disconnected"] = True
    assert "1 of 1 masks of OMP are disconnected" in selective(frame_of(*rows)).remarks


@pytest.mark.parametrize(
    ("density", "omp"),
    [
        (0.01, 0.6),
        (0.02, 0.7),  # half-way between OMP's two, in the logarithm
        (0.043, 0.8),  # within a tenth of OMP's densest
        (0.05, None),
    ],
)
def test_locality_compares_first_layers_of_one_density(density, omp):
    """At the same ratio OMP's first layer is sparser, and so further from chance."""
    rows = [
        first_layer("adult", "omp", 0.8, cut="ratio2", layer_density=[0.04, 1.0]),
        first_layer("adult", "omp", 0.6, cut="ratio8", layer_density=[0.01, 1.0]),
        first_layer("adult", "iunet", 0.5, layer_density=[density, 1.0]),
    ]
    expected = [] if omp is None else [pytest.approx(100 * (1 - 0.5 / omp))]
    assert list(selective(frame_of(*rows)).differences) == expected


def test_costs_are_compared_with_mlp_c_and_extrapolated_to_its_budget():
    names = ["dataset", "method", "seed", "seconds", "trials", "missing"]
    rows = [("b", "iunet", 0, 1.0, 0, None), ("b", "mlp_c", 0, None, 0, "not finished")]
    for seed in (0, 1):
        rows += [("a", "iunet", seed, 10.0, 0, None), ("a", "mlp_c", seed, 10.0, 0, None)]
        rows += [("a", "xgb", seed, 5.0, 0, None)]
    rows += [("a", "mlp_c", None, 60.0, 84, None)]  # a tenth of the paper's trials
    rows += [("a", "xgb", None, 0.0, 600, None)]
    found = cheaper(pd.DataFrame(rows, columns=names))
    assert dict(found.differences) == {("a", 0): 2.0, ("a", 1): 2.0}  # (10 + 60 / 2) / 10 = 2²
    assert found.remarks == [
        "4 times at the budgets run",
        "with 84 to 84 trials; extrapolated to the paper's 840: 31 times",
        "XGB: 0.5 times",
        "without b: not all times are there",
    ]


# ---- the paper's own numbers


def test_the_papers_numbers_do_not_decide_its_own_claims():
    omp, dense = (find_in_paper(CLAIM[f"{name}_tables"]) for name in ("omp", "dense"))
    assert omp.effect.mean == pytest.approx(0.645, abs=0.01) and omp.effect.interval is None
    assert omp.effect.interval_beyond == pytest.approx((-0.47, 1.99), abs=0.1)
    assert dense.effect.interval_beyond == pytest.approx((-0.49, 1.29), abs=0.1)
    assert omp.beyond == dense.beyond == UNDECIDED
    cnn = find_in_paper(CLAIM["near_cnn"])
    assert {k: round(v) for k, v in cnn.effect.means.items()} == {
        "cifar10": 34, "cifar100": 16, "svhn": 66,
    }  # fmt: skip
    assert find_in_paper(CLAIM["omp_images"]).on_sets == REPRODUCED
    assert find_in_paper(CLAIM["lazy"]).on_sets == NOT_RUN


def test_the_metric_of_table_7_contradicts_itself():
    found = metric_of_table7()
    assert found.on_sets == NOT_REPRODUCED and found.effect.mean < 50
    assert "majority rate" in found.remarks[0]


# ---- the ledger


def made(of_all: Finding, facts=FACTS, **of_claims: Finding):
    return ledger({claim.key: of_all for claim in CLAIMS} | of_claims, facts)


def of(mean: float, low: float, high: float, *datasets: str, verdict=REPRODUCED) -> Finding:
    effect = Effect(dict.fromkeys(datasets, mean), 3, (low, high))
    return Finding(effect, verdict)


def test_every_claim_has_a_row_with_a_verdict():
    table = made(Finding(remarks=["not here"]), omp_images=of(5.25, 1.0, 9.5, "cifar10"))
    assert [row.key for row in table.rows] == [claim.key for claim in CLAIMS]
    texts = {key: table.cell("omp_images", key).values["value"].text for key in COLUMNS}
    assert texts["effect"] == "+5.25 points" and texts["interval"] == "1.00 to 9.50"
    assert texts["smallest"] == "1 point" and texts["beyond"] == "–"
    assert texts["verdict"] == REPRODUCED and texts["remarks"] == "about cifar10 only"
    assert texts["paper"] == "+5.11 (4.88 to 5.32), reproduced"
    assert table.cell("on_top", "verdict").values["value"].text == NOT_RUN
    lines = {line["key"]: line for line in csv.DictReader(io.StringIO(table.own_csv))}
    assert len(lines) == len(CLAIMS) and lines["omp_images"]["low"] == "1.0"
    assert lines["level_mlp_c"]["equality"] == "True"


def test_five_sets_have_two_verdicts_and_what_stands_beside_them():
    gains = {f"set{i}": gain for i, gain in enumerate([3.0, 2.0, -1.5, 4.0, 5.0, 0.5])}
    rows = [
        row(name, "mlp_tab", method, seed, 60 + gain * (method == "iunet") + 0.1 * seed)
        for name, gain in gains.items()
        for method in ("iunet", "omp")
        for seed in range(3)
    ]
    found = find(CLAIM["omp_tables"], {"table7": frame_of(*rows)})
    facts = FACTS | {"kinds": dict.fromkeys(gains, "tabular")}
    table = made(Finding(), facts, omp_tables=found)
    texts = {key: table.cell("omp_tables", key).values["value"].text for key in COLUMNS}
    assert texts["verdict"] == REPRODUCED and texts["beyond"] == "undecided: unknown"
    assert texts["sets"].startswith("ahead on 5 of 6, median +2.50, p = 0.094")
    assert texts["chances"].count("/") == 2 and texts["beyond_interval"] != "–"


def test_scaled_down_images_are_a_cpu_scale_study():
    found = of(5.0, 1.0, 9.0, "cifar10")
    table = made(found, FACTS | {"scaled_down": {"vision": ["networks.mlp_vis.alpha 1 for 8"]}})
    line = table.data["claims"][0]
    assert line["remarks"][0] == CPU_SCALE
    assert any("networks.mlp_vis.alpha 1 for 8" in note for note in table.notes)
    stand_in = made(found, FACTS | {"stand_ins": ["cifar10"]}).data["claims"][0]
    assert stand_in["remarks"] == [CPU_SCALE, "about cifar10 only", "stand-ins: cifar10"]
    subset = made(found, FACTS | {"subsets": {"cifar10": "8000 rows"}})
    assert "subsets: cifar10" in subset.data["claims"][0]["remarks"]


def test_tables_are_no_cpu_scale_study_of_images():
    facts = FACTS | {"scaled_down": {"tabular": ["networks.mlp_tab.depth 2 for 9"]}}
    line = made(of(5.0, 1.0, 9.0, "vehicle", verdict=UNDECIDED), facts).data["claims"][0]
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
    table = made(of(5.0, 1.0, 9.0, "cifar10", "vehicle"), FACTS | {"unequal": both})
    lines = {line["key"]: line for line in table.data["claims"]}
    with_it = [key for key, line in lines.items() if both in line["remarks"]]
    assert with_it == ["level_mlp_c"]
    assert "tables and images together" in lines["pis"]["remarks"]


def test_a_claim_of_equality_says_in_which_direction_it_fails():
    found = of(-9.0, -12.0, -5.0, "vehicle", verdict=NOT_REPRODUCED)
    (line,) = (x for x in made(found).data["claims"] if x["key"] == "omp_dense")
    assert "less, by more than the smallest effect" in line["remarks"]
