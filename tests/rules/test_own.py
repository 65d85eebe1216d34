"""Data of a user's own on the command line: what is planned for them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import read_csv
from snakemake.exceptions import WorkflowError

from iunet.errors import UserError
from iunet.runs.overlays import merged_config
from iunet.runs.validate import own_dataset


@pytest.fixture
def here(workdir):
    (workdir.path / "My Data.csv").write_text("age,zip_code,label\n")
    (workdir.path / "shapes.npz").write_bytes(b"")
    return workdir


def tuning_of(plan, learner: str):
    jobs = (job for job in plan.jobs if job.rule.name == "tune")
    return next(job for job in jobs if job.wildcards.learner == learner)


def test_a_table_plans_all_methods_and_the_page(here):
    plan = here.plan_with((), own="My Data.csv", target="label", categorical=["zip_code"])
    counts = plan.counts
    assert (counts["download_table"], counts["split_table"], counts["page"]) == (1, 1, 1)
    assert (counts["tune"], counts["refit"], counts["evaluate_dense"]) == (3, 9, 6)
    assert not {"download_images", "split_images"} & set(counts)
    results = {path.split("/")[1] for path in plan.outputs}
    assert results == {"own"}
    tables = {path for path in plan.outputs if path.endswith(".csv") and "/tables/" in path}
    assert "results/own/tables/best_method.csv" in tables
    assert not {"results/own/tables/claims.csv", "results/own/tables/table7.csv"} & tables
    budget = tuning_of(plan, "mlp_c").params.budget
    assert budget["minutes"] == 60
    row = plan.job("download_table").params.row
    assert (row["name"], row["target"]) == ("my-data", "label")
    assert tuple(row["categorical"]) == ("zip_code",)


def test_images_plan_the_pruning_methods_and_the_page(here):
    counts = here.plan_with((), own="shapes.npz").counts
    assert (counts["download_images"], counts["split_images"], counts["page"]) == (1, 1, 1)
    assert not {"download_table", "tune"} & set(counts)


def test_what_else_the_command_line_says_wins(here):
    config = {"own": "My Data.csv", "target": "label", "seeds": [7]}
    small = {"tuning": {"mlp_c": {"minutes": 5}}, "results": "results/mine"}
    plan = here.plan_with((here.overlay("small.yaml", small),), **config)
    assert {job.wildcards.seed for job in plan.jobs if "seed" in job.wildcards.keys()} == {"7"}  # noqa: SIM118
    assert {path.split("/")[1] for path in plan.outputs} == {"mine"}
    assert tuning_of(plan, "mlp_c").params.budget["minutes"] == 5


@pytest.mark.parametrize(
    ("config", "fragment"),
    [
        ({"own": "My Data.csv"}, "must be the column of the table `own` to predict: --config own"),
        ({"own": "My Data.csv", "target": "labl"}, "no target column 'labl'. Did you mean 'label'"),
        ({"own": "My Data.csv", "target": "label", "categorical": ["zip"]}, "no column 'zip'"),
        ({"target": "label"}, "'target' is 'label', but must be null: only a table"),
        ({"own": "shapes.npz", "target": "label"}, "'target' is 'label', but must be null"),
        ({"own": "shapes.npz", "categorical": ["zip"]}, "must be empty: only a table of your own"),
        ({"page": {"tables": ["table77"]}}, "'page.tables' names 'table77'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(here, config, fragment):
    with pytest.raises(WorkflowError, match=fragment):
        here.plan_with((), **config)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/Customers 2.CSV.gz", "customers-2"),
        ("wine.parquet", "own-wine"),
        ("–.csv", "own"),
        (f"{'x' * 200}.csv", "x" * 60),  # a name of a folder has 255 bytes at most
    ],
)
def test_the_data_set_is_named_as_its_file(file, name):
    config = {"own": file, "target": "y", "categorical": []}
    assert own_dataset(config, taken=["wine"]).name == name


def test_placeholders_in_the_name_of_the_file_are_refused():
    with pytest.raises(
        UserError, match=r"The config key 'own' is 'a{b}\.csv', but Snakemake reads"
    ):
        own_dataset({"own": "a{b}.csv", "target": "y", "categorical": []}, taken=[])


def test_images_are_known_by_the_ending_however_it_is_written(here):
    (here.path / "PHOTOS.NPZ").write_bytes(b"")
    counts = here.plan_with((), own="PHOTOS.NPZ").counts
    assert counts["download_images"] == 1 and "tune" not in counts
    assert merged_config([], ["own=PHOTOS.NPZ"])["page"] == merged_config([], ["own=a.npz"])["page"]


def test_own_images_through_the_workflow(workdir):
    """They become a row of the table of image sets (tests/end_to_end/test_own_data.py: a table)."""
    images = np.random.default_rng(0).integers(0, 255, (30, 8, 8, 3), np.uint8)
    arrays = {"x_train": images, "x_test": images, "y_train": np.arange(30) % 3}
    arrays["y_test"] = arrays["y_train"]
    np.savez(workdir.path / "shapes.npz", **arrays, class_names=["a", "b", "c"])
    workdir.run("--config", "own=shapes.npz", "results/own/tables/table8.csv")
    row = read_csv(workdir.path / "results/own/tables/table8.csv")["shapes"]
    assert (row["n_train"], row["n_valid"], row["n_test"]) == ("24", "6", "30")
