"""The frame of results: what is read, what is refused, what is missing, and what is picked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from toy_results import score_of, toy_bench, write, write_results

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.results.collect import collect, read_runs_csv, records
from iunet.results.request import Request, asked_runs, files, request_digest
from iunet.results.runs_csv import write_runs_csv
from iunet.results.selection import consistency, costs, of_methods, of_results, of_subnetworks
from iunet.tables.make import build_table

ILO = "kappa0.25-ilo"


def bench_of(folder, methods=("dense", "omp", "iunet"), ratios=(2, 8), unavailable=None, **changes):
    """One table on vehicle, whose methods have two ratios."""
    bench = toy_bench(folder)
    entry = {"datasets": ["vehicle"], "methods": list(methods)}
    config = bench.config | {"tables": {**bench.config["tables"], "table7": entry}}
    config["prune"] = {**config["prune"], "tabular": {**config["prune"]["tabular"]}}
    config["prune"]["tabular"]["ratios"] = list(ratios)
    made = toy_bench(folder, unavailable, **{k: config[k] for k in ("tables", "prune")} | changes)
    return made, made.cells_of("tables.table7")


def path_of(bench, name="ratio8/evaluation.json", supernet=ILO, seed=0):
    return f"{bench.root}/runs/vehicle/mlp_tab/{supernet}/seed{seed}/{name}"


def changed(path, **changes):
    write(path, read_json(path) | changes)


def test_a_row_for_every_network_with_its_settings(tmp_path):
    bench, cells = bench_of(tmp_path)
    write_results(bench, Request(cells, cells))
    runs = collect(bench, Request(cells, cells)).runs
    assert len(runs) == 2 * (1 + 3 + 3)  # dense; a supernet and two cuts of OMP and of IUNET
    (row,) = runs[(runs.method == "iunet") & (runs.seed == 1) & (runs.cut == "ratio8")].itertuples()
    assert row.test_balanced_accuracy == 89 and row.valid_accuracy == 88 and row.chosen
    assert (row.kappa, row.objective, row.epochs) == (0.25, "ilo", 100) and row.missing is None
    assert set(runs[runs.method == "dense"].chosen.isna()) == {True}
    assert (runs[runs.method != "dense"]["lambda"] == 1).all()


def test_files_are_those_that_are_read(tmp_path):
    bench, cells = bench_of(tmp_path)
    request = Request(cells, cells, masks=cells, times=cells)
    write_results(bench, request)
    assert {str(path) for path in tmp_path.rglob("*.json")} == set(files(bench, request))
    assert len(files(bench, Request(cells))) < len(files(bench, request))


def test_the_digest_is_of_what_is_asked_for(tmp_path):
    bench, cells = bench_of(tmp_path)
    whole = request_digest(bench, Request(cells))
    assert whole == request_digest(bench, Request(cells))
    partial, _ = bench_of(tmp_path, partial=True)
    for other in (Request(cells[:1]), Request(cells, cells), Request(cells, masks=cells)):
        assert request_digest(bench, other) != whole
    assert request_digest(partial, Request(cells)) != whole


def test_a_report_without_its_scores_is_refused_by_name(tmp_path):
    bench, cells = bench_of(tmp_path)
    write_results(bench, Request(cells))
    changed(path_of(bench), metrics={})
    with pytest.raises(UserError, match="has no metric 'valid_accuracy'") as error:
        collect(bench, Request(cells))
    assert path_of(bench) in str(error.value)


@pytest.mark.parametrize("score", [-1, 101, float("nan"), True, "80"])
def test_what_is_no_percentage_is_refused(tmp_path, score):
    bench, cells = bench_of(tmp_path)
    write_results(bench, Request(cells))
    path = Path(path_of(bench))
    report = json.loads(path.read_text())
    report["metrics"]["test_accuracy"] = score
    path.write_text(json.dumps({key: v for key, v in report.items() if key != "made_by"}))
    with pytest.raises(UserError, match=r"'test_accuracy' is .*, not a number from 0 to 100"):
        collect(bench, Request(cells))


def test_masks_have_the_densities_of_their_layers(tmp_path):
    bench, cells = bench_of(tmp_path)
    request = Request(cells, masks=cells)
    write_results(bench, request)
    pruned = collect(bench, request).runs.dropna(subset="layer_density")
    assert pruned.layer_density.tolist() == [[0.125]] * 8 and pruned.layer_shape[2] == ["16x13"]


def test_a_time_must_be_one(tmp_path):
    bench, cells = bench_of(tmp_path)
    write_results(bench, Request(cells, times=cells))
    changed(path_of(bench, "supernet.json"), times={})
    with pytest.raises(UserError, match=r"'times.total_s' is None, not a number"):
        collect(bench, Request(cells, times=cells))


# ---- what is missing


def test_what_is_asked_for_and_not_there_has_its_reason(tmp_path):
    bench, cells = bench_of(tmp_path, partial=True)
    whole, _ = bench_of(tmp_path)
    write_results(whole, Request(cells))
    Path(path_of(bench, seed=1)).unlink()
    runs = collect(bench, Request(cells)).runs
    (gone,) = runs[runs.missing.notna()].itertuples()
    assert (gone.method, gone.seed, gone.cut, gone.ratio) == ("iunet", 1, "ratio8", 8)
    assert gone.missing == "not finished"
    results = of_results(runs)
    missing = dict(
        zip(zip(results.method, results.seed, strict=True), results.missing, strict=True)
    )
    assert missing["iunet", 1] == "not finished" and missing["iunet", 0] is None
    assert len(results) == 6 and missing["omp", 1] is None


def test_a_set_that_cannot_be_had_and_a_second_seed_that_is_needed(tmp_path):
    bench, cells = bench_of(tmp_path, unavailable={"vehicle": "not in the mirror"})
    assert files(bench, Request(cells)) == []
    results = of_results(collect(bench, Request(cells)).runs)
    assert set(results.missing) == {"not in the mirror"} and len(results) == 6
    bench, cells = bench_of(tmp_path, methods=["iunet_other_seed"], seeds=[0])
    assert [run.missing for run in asked_runs(bench, Request(cells))] == ["needs a second seed"] * 2


def test_without_a_choice_nothing_stands_for_a_method(tmp_path):
    bench, cells = bench_of(tmp_path, partial=True)
    whole, _ = bench_of(tmp_path)
    write_results(whole, Request(cells))
    Path(f"{bench.root}/runs/vehicle/mlp_tab/choice-iunet.json").unlink()
    results = of_results(collect(bench, Request(cells)).runs)
    assert set(results[results.method == "iunet"].missing) == {"not finished"}
    assert results[results.method == "omp"].cut.tolist() == ["ratio8"] * 2


def test_why_nothing_was_chosen(tmp_path):
    bench, cells = bench_of(tmp_path)
    write_results(
        bench, Request(cells), lambda run: score_of(run) if run.method != "iunet" else None
    )
    results = of_results(collect(bench, Request(cells)).runs)
    failed = results[results.method == "iunet"].failed
    reason = "the loss is not finite (seed 0); the loss is not finite (seed 1)"
    assert failed.tolist() == [reason] * 2
    assert results[results.method == "iunet"].cut.isna().all()


# ---- what is picked


def test_controls_use_the_ratio_of_iunet(tmp_path):
    bench, cells = bench_of(tmp_path, methods=["iunet", "iunet_shuffled", "dense"])
    write_results(bench, Request(cells))
    for name, cut in (("iunet", "ratio2"), ("iunet_shuffled", "ratio8-shuffled")):
        pair = {"supernet": ILO, "cut": cut}
        path = f"{bench.root}/runs/vehicle/mlp_tab/choice-{name}.json"
        changed(path, chosen=pair, candidates=[pair])
    runs = collect(bench, Request(cells)).runs
    own, shared = of_results(runs), of_results(runs, choice_of="iunet")
    assert set(own[own.method == "iunet_shuffled"].cut) == {"ratio8-shuffled"}
    assert set(shared[shared.method == "iunet_shuffled"].cut) == {"ratio2-shuffled"}
    assert set(shared[shared.method == "dense"].supernet) == {"dense"}


def test_every_cut_comes_after_the_other(tmp_path):
    bench, cells = bench_of(tmp_path)
    write_results(bench, Request(cells))
    runs = collect(bench, Request(cells)).runs
    cuts = of_subnetworks(runs)
    assert cuts.cut.tolist() == ["ratio2"] * 4 + ["ratio8"] * 4
    assert of_methods(runs, [("vehicle", "mlp_tab", "dense")]).method.unique().tolist() == ["dense"]


def test_consistency_of_supernet_subnetwork_and_dense(tmp_path):
    bench, cells = bench_of(tmp_path, methods=["dense", "iunet"])
    write_results(bench, Request(cells, cells))
    frame = consistency(collect(bench, Request(cells, cells)).runs)
    names = ["dense_trained", "supernet", "supernet_trained"]
    names += ["iunet", "iunet_trained", "iunet_redrawn"]
    assert list(frame[frame.seed == 0].method) == names and set(frame["transform"]) == {"feat"}
    changed(path_of(bench), consistency={})
    with pytest.raises(UserError, match="The evaluation of the subnetwork has no consistency"):
        consistency(collect(bench, Request(cells, cells)).runs)


def test_a_table_without_times_names_studies_that_lost_many_trials_too(tmp_path):
    bench, cells = bench_of(tmp_path, methods=["dense", "xgb"])
    write_results(bench, Request(cells))
    note = "More than a tenth of the trials failed: xgb on vehicle (1 of 6)."
    assert note in build_table(bench, "table7").notes


def test_costs_count_each_job_once(tmp_path):
    bench, cells = bench_of(tmp_path, methods=["dense", "omp", "xgb"])
    request = Request(cells, times=cells)
    write_results(bench, request)
    frame = costs(collect(bench, request).runs).set_index(["method", "seed"])
    assert frame.loc[("omp", 1), "seconds"] == 11 + 2 * 11  # a supernet, and both of its cuts
    assert frame.loc[("dense", 0), "seconds"] == 10
    (study,) = frame[frame.index.get_level_values("seed").isna()].itertuples()
    assert study.seconds == 11 and study.trials == 6  # the report that was written last


# ---- runs.csv


def test_a_runs_csv_gives_the_same_frame(tmp_path):
    bench, cells = bench_of(tmp_path / "results", methods=["dense", "omp", "iunet", "xgb"])
    request = Request(cells, cells, masks=cells, times=cells)
    write_results(bench, request, lambda run: None if run.method == "omp" else score_of(run))
    path = tmp_path / "runs.csv"
    write_runs_csv(records(bench, request), path)
    there, again = collect(bench, request).runs, read_runs_csv(path)
    not_in_file = ["mask_overlap", "lambda", "alpha", "epochs", "study"]
    assert there.drop(columns=not_in_file).equals(again.drop(columns=not_in_file))


def test_a_row_has_the_layers_of_its_own_mask_only(tmp_path):
    """Fresh weights share the report of IUNET's mask, which may have been found again elsewhere."""
    bench, cells = bench_of(tmp_path, methods=["iunet", "iunet_fresh"], ratios=[8], seeds=[0])
    request = Request(cells, masks=cells)
    write_results(bench, request)
    changed(path_of(bench, "ratio8-fresh/evaluation.json"), overlap_with_initial_mask=0.25)
    path = tmp_path / "runs.csv"
    write_runs_csv(records(bench, request), path)
    rows = read_runs_csv(path).set_index("method")
    assert rows.loc["iunet", "layer_weight"] == ["encoder.0.weight"]
    assert rows.loc["iunet_fresh", "layer_weight"] is None
    # A table shows the mask all the same.
    assert collect(bench, request).runs["layer_density"].notna().all()


def test_other_columns_and_words_for_numbers_are_refused(tmp_path):
    lines = (ROOT / "reports/cpu-study/runs.csv").read_text().splitlines()
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="was made by another version"):
        read_runs_csv(path)
    path.write_text("\n".join([lines[0], lines[1].replace(",0,", ",zero,", 1)]) + "\n")
    with pytest.raises(UserError, match=r"line 2: 'seed' is 'zero', which is not a number"):
        read_runs_csv(path)
