"""What a study answers, from rows made up here; its archive; the README's made parts."""

from __future__ import annotations

import lzma
import os
import tarfile
from pathlib import Path

import pytest

from iunet.errors import UserError
from iunet.study.answers import answers, compare, nearer_metric, sample, tuned_beside_paper
from iunet.study.archive import pack, published_view, put_back, unpack
from iunet.study.findings import RULE, conditions, findings, numbers
from iunet.study.mechanism import laziness_line, mechanism_text
from iunet.study.overlays import read_config
from iunet.study.picture import differences, draw
from iunet.study.publish import with_blocks
from iunet.study.rows import COLUMNS
from iunet.study.sweeps import SWEEPS, sweeps_text
from iunet.study.texts import (
    answers_text,
    claims_text,
    far_text,
    metrics_text,
    progress_text,
    table7_text,
    tuned_text,
)
from iunet.tables.claims import CPU_SCALE


def row(dataset, method, seed, score, **facts):
    stage = facts.pop("stage", "dense" if method == "dense" else "subnetwork")
    content = dict.fromkeys(COLUMNS) | {"dataset": dataset, "method": method, "seed": seed}
    content |= {"network": "mlp_tab", "stage": stage, "ratio": 8, "chosen": "yes"}
    for metric in ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy"):
        content[f"test_{metric}"] = score
    return content | facts


def study(gain, datasets=("a", "b", "c", "d", "e", "f")):
    """IUNET above OMP by `gain` on every data set and seed."""
    return [
        row(dataset, method, seed, 70 + place + 0.1 * seed + gain * (method == "iunet"))
        for place, dataset in enumerate(datasets)
        for method in ("omp", "iunet")
        for seed in range(3)
    ]


@pytest.mark.parametrize(
    ("gain", "answer"), [(3.0, "yes"), (0.5, "no"), (-2.0, "no, worse"), (0.0, "no")]
)
def test_the_answer_follows_the_smallest_effect(gain, answer):
    first = answers(study(gain))[0]
    assert first["question"] == "Does IUNET beat OMP?" and first["kind"] == "tables"
    assert first["effect"].mean == pytest.approx(gain) and first["verdict"] == answer
    head, _, line = answers_text(study(gain)).splitlines()
    assert head == "| question | tables (6) |"
    assert line.startswith(f"| Does IUNET beat OMP? | **{answer}**, {gain:+.2f} [")


def test_wide_spreads_leave_it_open():
    rows = study(1.0)
    for entry in rows:
        if entry["method"] == "iunet":
            entry["test_balanced_accuracy"] += 8 * (-1) ** "abcdef".index(entry["dataset"])
    assert answers(rows)[0]["verdict"] == "open"


def test_only_whole_data_sets_and_chosen_networks_count():
    rows = study(2.0)
    rows.append(row("a", "iunet", 0, 0.0, chosen="no", cut="ratio2"))
    assert sample(rows, "tabular", "iunet")["a"][0] == 72
    unfinished = [r for r in rows if (r["dataset"], r["seed"]) != ("b", 2)]
    found = compare(unfinished, "tabular", "iunet", "omp")
    assert "b" not in found.datasets and len(found.datasets) == 5
    two_seeds = [r for r in rows if (r["method"], r["seed"]) != ("omp", 2)]
    found = compare(two_seeds, "tabular", "iunet", "omp")
    assert len(found.datasets) == 6 and found.seeds == 2 and found.mean == pytest.approx(2.0)


def test_an_answer_names_the_data_sets_that_it_hangs_on():
    rows = study(0.9)
    for entry in rows:
        if (entry["method"], entry["dataset"]) == ("iunet", "c"):
            entry["test_balanced_accuracy"] += 1.2
    (answer,) = answers(rows)
    assert answer["verdict"] == "yes" and answer["depends_on"] == ["c"]
    assert answers_text(rows).endswith("]; not without c |")
    assert "not without" not in answers_text(study(3.0))
    rows += [r | {"method": "dense", "stage": "dense"} for r in rows if r["method"] == "omp"]
    assert findings(rows)[0].startswith("**On tables IUNET is narrowly better than OMP and the")


def test_a_failed_seed_takes_no_data_set_away():
    rows = [
        r | {"failed": "diverged"} if (r["dataset"], r["seed"]) == ("b", 2) else r
        for r in study(2.0)
    ]
    found = compare(rows, "tabular", "iunet", "omp")
    assert len(found.datasets) == 6 and found.mean == pytest.approx(2.0)


def test_images_are_compared_at_one_ratio():
    vision = {"network": "mlp_vis", "chosen": "no"}
    rows = [row("cifar10", "iunet", 0, 50.0, ratio=8, **vision)]
    rows.append(row("cifar10", "iunet", 0, 10.0, ratio=2, **(vision | {"chosen": "yes"})))
    assert sample(rows, "vision", "iunet") == {"cifar10": {0: 50.0}}
    assert sample(rows, "vision", "iunet", at_chosen=True) == {"cifar10": {0: 10.0}}
    assert sample(rows, "tabular", "iunet") == {}


def test_supernets_shown_beside_their_cuts_are_not_their_methods():
    rows = [row("a", "iunet", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(rows, "tabular", "iunet") == {}
    rows = [row("a", "iunet_no_prune", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(rows, "tabular", "iunet_no_prune") == {"a": {0: 50.0}}


def test_the_metric_that_is_nearer_to_the_paper():
    scores = {"test_swapped_balanced_accuracy": 70.0, "test_balanced_accuracy": 50.0}
    (cell,) = nearer_metric([row("credit-g", "dense", 0, 0.0, **scores)])
    assert cell["paper"] == 70.0 and cell["nearer"] == "swapped_balanced_accuracy"
    rows = [row("credit-g", "dense", 0, 0.0, **scores), row("vehicle", "omp", 0, 81.1)]
    assert metrics_text(rows).splitlines()[2:] == [
        "| credit-g | 70.0: 50.0 / **70.0** | not run |",
        "| vehicle | not run | 81.1: 81.1 / 81.1 |",  # as near to both
    ]


def test_tuned_baselines_beside_the_papers():
    tuned = {"stage": "tuned", "network": "xgb", "chosen": None}
    tuned |= {"trials_complete": 150, "best_trial": 80, "valid_balanced_accuracy": 71.5}
    rows = [row("credit-g", "xgb", seed, 66.9, **tuned) for seed in (0, 1)]
    (entry,) = tuned_beside_paper(rows)
    assert entry["paper"] == 68.929 and entry["ours"] == 66.9 and entry["trials"] == 150
    assert entry["best_trial"] == 80
    assert tuned_text(rows).endswith("| credit-g | 66.9 (-2.0), 150, 71.5 |")
    text = table7_text(rows)
    assert "-2.0 points in the mean of 1 sets, with 150 trials where the paper has 600" in text
    assert "second half of the study on 1 of them." in text
    assert text.endswith("trials have 71.5 % on validation, their refits 66.9 % on test.")
    assert "not run" in tuned_text([])
    gone = [r | {"trials_complete": None, "best_trial": None} for r in rows]
    assert tuned_beside_paper(gone) == [] and tuned_beside_paper(rows + gone) == [entry]


def test_only_tables_have_tuned_methods():
    rows = [r | {"network": n} for r in study(2.0) for n in ("mlp_tab", "mlp_vis")]
    tuned = {"stage": "tuned", "network": "mlp_c", "chosen": None}
    rows += [r | tuned | {"method": "mlp_c"} for r in study(0) if r["method"] == "omp"]
    for text in (answers_text(rows), numbers(rows)):
        (line,) = (line for line in text.splitlines() if "MLP+C" in line)
        assert line.endswith("| – |") and "+2.0" in line


def test_the_picture_has_every_method_beside_iunet(tmp_path):
    rows = study(2.0) + [r | {"method": "dense", "stage": "dense"} for r in study(0)[:3]]
    found = differences(rows, "tabular")
    assert [entry["method"] for entry in found] == ["dense", "omp"]
    swept = [r | {"method": "iunet_kappa0.0625"} for r in rows if r["method"] == "omp"]
    assert differences(rows + swept, "tabular") == found
    assert found[1]["each"]["c"] == pytest.approx(-2)
    assert [entry["cut_off"] for entry in found] == [0, 0]
    cut = [r | {"disconnected": "yes"} if r["method"] == "omp" else r for r in rows]
    assert [entry["cut_off"] for entry in differences(cut, "tabular")] == [0, 6]
    assert "]; cut off: a, b, c, d, e, f |" in answers_text(cut)
    assert "cut off" not in answers_text(rows)
    for name in ("one.png", "two.png"):
        draw(rows, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_an_answer_says_where_its_two_sides_ran_on_different_processors():
    rows = [r | {"processor": "one"} for r in study(3.0)]
    assert "two CPUs" not in answers_text(rows)
    for changed in rows:
        if changed["dataset"] in "abc" and changed["method"] == "iunet":
            changed["processor"] = None if changed["dataset"] == "c" else "another"
    assert answers(rows)[0]["other_processors"] == ["a", "b"]
    assert "]; 2 of them on two CPUs" in answers_text(rows)
    vision = [r | {"network": "mlp_vis", "processor": "one"} for r in rows]
    convolutions = [r | {"network": "cnn", "processor": "third"} for r in rows[:3]]
    on_images = [a for a in answers(rows + vision + convolutions) if a["kind"] == "images"]
    assert on_images[0]["other_processors"] == []
    assert answers(rows)[0]["other_processors"] == ["a", "b"]


# ---- the archive


def test_reports_come_back_as_they_were_and_replace_nothing(tmp_path):
    report = tmp_path / "results/runs/a/evaluation.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    os.utime(report, (1000, 1000))
    (report.parent / "weights.safetensors").write_bytes(b"large")
    archive = tmp_path / "reports.tar.xz"
    assert pack(tmp_path / "results", archive) == 1
    first = archive.read_bytes()
    pack(tmp_path / "results", archive)
    assert archive.read_bytes() == first
    other = tmp_path / "elsewhere"
    assert unpack(archive, other) == 1
    again = other / "runs/a/evaluation.json"
    assert again.read_text() == "{}" and again.stat().st_mtime > 1000
    os.utime(again, (0, 0))  # as a call that was interrupted leaves it
    assert unpack(archive, other) == 0 and again.stat().st_mtime > 1000
    again.write_text("newer")
    assert unpack(archive, other) == 0 and again.read_text() == "newer"
    assert not (other / "runs/a/weights.safetensors").exists()


def test_reports_behind_a_published_result_are_put_back(tmp_path):
    """Supernet and mask were made again for a control, on a processor that rounds otherwise."""
    results, archive = tmp_path / "results", tmp_path / "reports.tar.xz"
    run = results / "runs/wine/mlp_tab/kappa1-sup/seed0"
    names = ("supernet.json", "ratio8/mask.json", "ratio8/evaluation.json")
    own = ("ratio4/mask.json", "ratio4/evaluation.json", "../../choice-omp.json")
    for name in (*names, *own):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(f"published {name}")
    pack(results, archive)
    assert put_back(archive, results) == 0
    for name in (*names[:2], *own, "ratio8-random/mask.json"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("made again")
    view, number = published_view(archive, results)
    assert number == 2 and (
        view / "runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    ).read_text() == ("published supernet.json")
    assert (run / "supernet.json").read_text() == "made again"  # a study goes on from it
    assert put_back(archive, results) == 2
    assert [(run / name).read_text() for name in names] == [f"published {name}" for name in names]
    # What was evaluated again stands on the reports that were made with it; a choice comes later.
    for name in (*own, "ratio8-random/mask.json"):
        assert (run / name).read_text() == "made again", name
    assert put_back(archive, results) == 0
    (run / "ratio8/evaluation.json").write_text("evaluated again")
    (run / "supernet.json").write_text("made again")
    assert put_back(archive, results) == 0


def test_a_clone_without_results_publishes_what_was_published(tmp_path):
    report = tmp_path / "results/runs/wine/evaluation.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    (report.parent / "histograms.safetensors").write_bytes(b"small")
    (report.parent / ".evaluation.json.tmp").mkdir()
    (report.parent / ".evaluation.json.tmp/evaluation.json").write_text("half")
    archive = tmp_path / "reports.tar.xz"
    assert pack(tmp_path / "results", archive) == 2
    view, _ = published_view(archive, tmp_path / "elsewhere/results")
    files = [path.name for path in sorted(view.rglob("*")) if path.is_file()]
    assert files == ["evaluation.json", "histograms.safetensors"]
    again, _ = published_view(archive, tmp_path / "results")
    assert not list(again.rglob(".*")) and (again / "runs/wine/evaluation.json").samefile(report)


def test_nothing_is_unpacked_outside(tmp_path):
    archive = tmp_path / "reports.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo("../outside.json"))
    with pytest.raises(UserError, match=r"reports\.tar\.xz cannot be unpacked .*outside"):
        unpack(archive, tmp_path / "results")
    assert not (tmp_path / "outside.json").exists() and not (tmp_path / "results").exists()


def test_a_damaged_archive_is_refused_by_name(tmp_path):
    archive = tmp_path / "reports.tar.xz"
    archive.write_bytes(lzma.compress(b"no archive" * 100)[:-9])
    with pytest.raises(UserError, match=r"reports\.tar\.xz cannot be unpacked"):
        unpack(archive, tmp_path / "results")


# ---- the README's made parts


def test_blocks_are_replaced_and_the_rest_stays():
    text = "Before.\n<!-- claims: old -->\nold\n<!-- end of claims -->\nAfter.\n"
    path, parts = Path("README.md"), {"claims": "| new |"}
    new = with_blocks(text, parts, path)
    assert new.startswith("Before.\n<!-- claims:") and new.endswith(
        "<!-- end of claims -->\nAfter.\n"
    )
    assert "| new |" in new and "old" not in new and with_blocks(new, parts, path) == new
    with pytest.raises(UserError, match=r"README\.md needs one block '<!-- answers"):
        with_blocks(text, {"answers": ""}, path)


# ---- findings


def test_findings_follow_from_the_intervals():
    def said(difference: float) -> list[str]:
        methods = {"omp": 0.0, "dense": 0.0, "iunet": difference}
        rows = []
        for i, dataset in enumerate("abcdef"):
            for method, gain in methods.items():
                rows += [row(dataset, method, s, 70 + gain + 0.1 * i + 0.01 * s) for s in (0, 1, 2)]
        return findings(rows)

    (better,) = said(5.0)
    assert better.startswith("**On tables IUNET is better than OMP and the dense network.**")
    assert "IUNET − OMP is +5.00 points [" in better and better.endswith("], still *yes*.")
    assert "IUNET is ahead on 6 of 6, the median is +5.00." in better
    assert "worse than OMP" in said(-5.0)[0]
    assert "not better, by a point, than OMP" in said(0.3)[0]


def test_the_finding_on_controls_names_every_kind_of_data():
    """Each number is IUNET less the other, so that a reader need not turn a sign."""
    scores = {"iunet": 70.0, "iunet_no_pis": 66.0, "omp_lr16": 72.0, "ilo_lr16": 67.0}
    rows = [
        row(dataset, method, seed, score + 0.1 * seed)
        for dataset in "abcdef"
        for method, score in scores.items()
        for seed in (0, 1, 2)
    ]
    facts = {"dataset": "cifar10", "network": "mlp_vis", "encoder_weights": 4_190_208}
    image = [r | facts | {"subset": "{}"} for r in rows[:12]]
    (text,) = findings(rows + image, "At its real size it is cut off.")
    both = "PIS, PIS beyond a 16 times larger learning rate."
    assert text == (
        "**What of IUNET makes the difference?** On tables *yes*: "
        f"{both} On CIFAR10 (CPU scale) *yes*: {both} At its real size it is cut off."
    )
    assert "CIFAR10" not in findings(rows)[0] and "images" not in findings(rows)[0]
    assert numbers(rows + image).splitlines() == [
        "| | 6 tables, 3 seeds | CIFAR10, 3 seeds |",
        "|---|---|---|",
        "| Is PIS needed? | **yes**, +4.0 points [+4.0, +4.0] | "
        "**yes**, +4.0 points [+4.0, +4.0] |",
        "| Is PIS more than 16 times the learning rate at κ = 1? | "
        "**yes**, +3.0 points [+3.0, +3.0] | **yes**, +3.0 points [+3.0, +3.0] |",
    ]
    fewer = [r for r in rows if r["method"] != "iunet_no_pis" or r["dataset"] in "abc"]
    assert "+4.0 points [+4.0, +4.0]; 3 tables, 3 seeds |" in numbers(fewer)
    assert "+3.0 points [+3.0, +3.0] |" in numbers(fewer)
    without = [r for r in rows if r["method"] in ("iunet", "ilo_lr16")]
    worse = [r | {"test_accuracy": 10.0} if r["method"] == "iunet" else r for r in image]
    (text,) = findings(without + worse)
    assert "On CIFAR10 (CPU scale) *no, worse*: PIS, PIS beyond" in text
    assert "| Is PIS needed? | not run | **no, worse**, -" in numbers(without + worse)
    assert numbers([]) is None
    assert conditions(rows + image) == (
        "Points are IUNET's less the other's, of test balanced accuracy on tables (6 tables, 3 "
        "seeds) and of test accuracy on images (CIFAR10, 3 seeds; a CPU-scale study: subset, "
        f"MLP_VIS of 4.2 million weights, r = 8; interval over seeds only). {RULE}"
    )


def test_each_part_and_rival_is_said_of_its_own_data_sets():
    methods = {"iunet": 70.0, "iunet_no_pis": 66.0, "iunet_no_ilo": 66.0, "omp": 66, "dense": 69.2}
    rows = [
        row(dataset, method, seed, score + 0.1 * seed)
        for dataset in "abcdef"
        for method, score in methods.items()
        for seed in (0, 1, 2)
        if method != "iunet_no_ilo" or dataset in "abc"
    ]
    for entry in rows:  # the dense network is worse on one table only
        if (entry["method"], entry["dataset"]) == ("dense", "c"):
            entry["test_balanced_accuracy"] -= 1.3
    first, second = findings(rows)
    beside = "better than OMP and narrowly better than the dense network."
    assert first.startswith(f"**On tables IUNET is {beside}**")
    assert second.endswith("On tables *yes*: PIS, ILO (3 tables, 3 seeds).")


def test_a_gain_below_a_point_is_not_called_unknown():
    rows = [
        row(dataset, method, seed, 70 + 0.9 * (method == "iunet") + 0.1 * place * (method == "omp"))
        for place, dataset in zip((-1, 0, 1), "abc", strict=True)
        for method in ("iunet", "omp", "dense")
        for seed in (0, 1, 2)
    ]
    effect = compare(rows, "tabular", "iunet", "omp")
    assert 0 < effect.low < effect.mean < 1 < effect.high
    assert "IUNET is better, but not surely by a point, than OMP" in findings(rows)[0]


def test_findings_on_images_name_their_scale():
    scores = {"omp": 40.0, "dense": 47.0, "iunet": 45.0}
    facts = {"network": "mlp_vis", "encoder_weights": 4_190_208, "subset": "{}"}
    rows = [
        row("cifar10", method, seed, score + 0.1 * seed, **facts)
        for method, score in scores.items()
        for seed in (0, 1, 2)
    ]
    (text,) = findings(rows)
    beside = "IUNET is better than OMP and worse than the dense network"
    assert text.startswith(f"**On CIFAR10 (CPU scale) {beside}")
    said = "(CIFAR10, 3 seeds; a CPU-scale study: subset, MLP_VIS of 4.2 million weights, r = 8; "
    assert f"on images {said}interval over seeds only). " in conditions(rows)
    two = rows + [r | {"dataset": "svhn"} for r in rows if r["method"] != "dense"]
    assert "(2 image sets, 3 seeds; " in conditions(two)
    assert findings(two)[0].startswith(
        "**On images (CPU scale) IUNET is better than OMP. "
        "On CIFAR10 (CPU scale) IUNET is worse than the dense network."
    )
    assert "]; CIFAR10, 3 seeds, interval over seeds only |" in numbers(two)
    other = [r | {"chosen": "no"} if r["method"] == "omp" else r for r in rows]
    chosen = {"ratio": 2, "chosen": "yes"}
    other += [
        r | chosen | {"test_accuracy": 42 + 0.1 * r["seed"]} for r in rows if r["method"] == "omp"
    ]
    assert "**yes**, +5.0 points [+5.0, +5.0] |" in numbers(other)
    assert findings(other)[0].endswith(
        "validation (OMP 2, IUNET 8), IUNET − OMP is +3.0 points [+3.0, +3.0]."
    )
    one = [r for r in rows if r["seed"] == 0]
    assert "not shown to be better or worse than OMP" in findings(one)[0]  # no interval


def test_nearer_is_weak_where_the_papers_value_lies_beyond_both():
    rows = [row("credit-g", "dense", 0, 60.0, test_accuracy=70.5)]
    rows[0] |= {"test_swapped_balanced_accuracy": 64.0}
    (cell,) = nearer_metric(rows)  # the paper has 70.0
    assert cell["nearer"] == "swapped_balanced_accuracy" and not cell["between"]
    assert cell["nearest"] == "accuracy"
    (text,) = findings(rows)
    assert "only 0 lie between the two, and 1 lie nearest to our plain accuracy" in text


# ---- how the masks come about, and cells far from the paper


def test_overlaps_and_what_beta_lasso_keeps():
    assert mechanism_text(study(1.0)) == ""
    rows = [
        row(dataset, method, seed, 1.0, overlap_with_initial_mask=overlap + 0.1 * seed)
        for dataset in "ab"
        for method, overlap in (("omp", 0.7), ("iunet", 0.4))
        for seed in (0, 1)
    ]
    rows.append(row("c", "omp", 0, 1.0, overlap_with_initial_mask=0.0))  # IUNET has no such set
    rows.append(row("a", "ilo_lr16", 0, 1.0, overlap_with_initial_mask=0.0))  # not finished
    kept = {"encoder_compression": 1.25, "stage": "subnetwork", "cut": "survivors"}
    rows.append(row("a", "beta_lasso", 0, 1.0, **kept))
    lazy, cuts = mechanism_text(rows).splitlines()
    assert lazy.endswith("by chance 0.12). 2 tables: OMP 0.75, IUNET 0.45.")
    assert "80 to 80 % of the encoder's weights stay (tables: 1)" in cuts
    images = [r | {"network": "mlp_vis", "dataset": "cifar10"} for r in rows[:4]]
    assert laziness_line(rows + images).endswith("CIFAR10: OMP 0.75, IUNET 0.45.")
    assert laziness_line([rows[0], *rows[-2:]]) is None  # no data set in common


def test_cells_far_from_the_paper_stand_with_seeds_and_other_initial_weights():
    rows = [row("vehicle", "omp", seed, 75.0 + seed) for seed in (0, 1, 2)]  # the paper: 81.1
    rows += [row("vehicle", "dense", seed, 78.5 + seed) for seed in (0, 1, 2)]  # 80.4
    other = [row("vehicle", "omp_he_normal", seed, 60.0) for seed in (0, 1)]
    *_, line = far_text(rows + other).splitlines()
    same = "76.0 ± 1.0 | " * 3
    assert line == f"| vehicle | OMP | 81.1 | {same}60.0 ± 0.0 / 60.0 ± 0.0 / 60.0 ± 0.0 |"
    assert far_text(rows).splitlines()[2:] == [f"| vehicle | OMP | 81.1 | {same}– |"]
    assert far_text(rows[3:]) == "No cell lies 3 points or more from all our metrics."


# ---- the README's texts


def test_a_claims_remarks_stand_beside_its_verdict():
    line = {"claim": "IUNET wins", "effect": 2.0, "low": 1.0, "high": 3.0, "unit": "points"}
    line |= {"datasets": 1, "verdict": "reproduced", "smallest": 1.0}
    said = [CPU_SCALE, "about cifar10 only", "svhn: not finished"]
    assert claims_text([line | {"remarks": said}]).endswith(
        "| +2.00 [+1.00, +3.00] points | 1 | reproduced (CPU scale) | about cifar10 only |"
    )


def test_a_remark_beside_many_claims_is_written_once():
    line = {"claim": "IUNET wins", "effect": 2.0, "low": 1.0, "high": 3.0, "unit": "points"}
    line |= {"datasets": 1, "verdict": "reproduced", "smallest": 1.0}
    own = [["about cifar10 only", "subsets"], ["subsets"], ["subsets", "best rival: OMP"], []]
    text = claims_text([line | {"remarks": remarks} for remarks in own])
    *lines, _, notes = text.splitlines()
    assert [row.rsplit("|", 2)[1].strip() for row in lines[2:]] == [
        "(a); about cifar10 only",
        "(a)",
        "(a); best rival: OMP",
        "",
    ]
    assert notes == "(a) subsets"


def test_a_ratio_has_no_sign():
    line = {"claim": "cheaper", "effect": 0.29, "low": 0.09, "high": 1.35, "unit": "times"}
    line |= {"datasets": 5, "verdict": "undecided", "smallest": None, "remarks": []}
    assert "| cheaper | 0.29 [0.09, 1.35] times | 5 |" in claims_text([line])


def test_progress_counts_methods_with_all_their_seeds():
    rows = [row("a", method, seed, 1.0, id=f"{method}{seed}") for method in "xy" for seed in (0, 1)]
    assert progress_text(rows[:3]) == "3 models evaluated, 2 seeds: a (1 method, 1 in part)."
    assert progress_text(rows) == "4 models evaluated, 2 seeds: a (2 methods)."
    rows[0]["chosen"] = None  # a ratio that is a candidate of another method, too
    assert progress_text(rows).endswith("a (1 method, 1 in part).")
    rows[0] |= {"chosen": "yes", "network": "mlp_tab-depth3"}
    assert progress_text(rows).endswith("a (1 method, 2 in part).")


def test_a_sweep_shows_its_own_data_sets_and_the_difference_from_iunet():
    assert sweeps_text(study(2.0)) == "No sweep was run yet."  # IUNET alone is no sweep
    rows = study(2.0, ("vehicle", "credit-g"))
    rows += [row("vehicle", "iunet_kappa0.0625", seed, 75 + 0.1 * seed) for seed in range(3)]
    rows += [row("vehicle", "iunet_kappa0.015625", 2, 73.2)]
    head, _, *lines = sweeps_text(rows).splitlines()
    assert head.startswith("| κ, ") and "| vehicle |" in head and "credit-g" not in head
    assert lines == [
        "| 1 | not run |",
        "| 1/4 | 72.1 |",
        "| 1/16 | 75.1 (+3.0 points [+3.0, +3.0]) |",
        "| 1/64 | 73.2 (+1.0 points, one seed) |",  # beside IUNET's 72.2 with that seed
        "| 1/256 | not run |",
    ]


def test_every_sweep_compares_rows_of_the_studys_config():
    config = read_config()
    in_parts = {m for part in config["experiments"].values() for m in part["methods"]}
    for sweep in SWEEPS:
        assert "iunet" in sweep.methods and set(sweep.methods) <= in_parts
