"""A user with tables only, or images only: what needs the other kind says so."""

from __future__ import annotations

import copy
import csv
import json
import re
from pathlib import Path

import pytest
import yaml
from configs import merged
from conftest import ROOT
from sample_page import text_table

from iunet.artifacts import write_json
from iunet.data.registry import read_registry
from iunet.figures.catalog import figure_request
from iunet.figures.make import make_figure, write_figure
from iunet.figures.parts import draw_reason
from iunet.page.build import make_page
from iunet.results.request import files
from iunet.runs.entries import Benchmark
from iunet.tables.catalog import TABLES, declared_tables, why_table_empty
from iunet.tables.make import make_table

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])
FORMS = {"csv": "csv", "markdown": "md", "html": "html", "latex": "tex", "json": "json"}
OF_IMAGES = {"table1", "table5", "table6", "table8", "search_fixed_ratio"}
OF_TABLES = {"table2", "table7", "table9", "search_tabular", "ranking", "metrics_tabular"}
NEITHER = {"claims", "cost", "metric_problem"}  # of all runs, and of the paper alone


def bench_of(root: Path, *kinds: str) -> Benchmark:
    """The paper's config with a data set of these kinds per group, of which nothing is finished."""
    config = copy.deepcopy(CONFIG) | {"partial": True, "results": str(root), "seeds": [0]}
    config["datasets"] = {
        group: [name for name in names if REGISTRY[name].kind in kinds][:1]
        for group, names in config["datasets"].items()
    }
    config["networks"] = merged("test")["networks"]  # of which initial weights are drawn
    for entry in [*config["tables"].values(), *config["figures"].values()]:
        if isinstance(entry["datasets"], list):
            groups = [n for n in entry["datasets"] if n in config["datasets"]]
            single = [n for n in entry["datasets"] if n not in groups and REGISTRY[n].kind in kinds]
            entry["datasets"] = groups + single
    return Benchmark(config, REGISTRY, declared_tables())


def make_tables(bench: Benchmark, root: Path, names=tuple(TABLES)) -> dict[str, dict[str, str]]:
    """The texts of tables in all forms."""
    for name in names:
        output = {form: f"{root}/tables/{name}.{ending}" for form, ending in FORMS.items()}
        make_table(bench, name, output)
    return {
        name: {f: (root / "tables" / f"{name}.{e}").read_text() for f, e in FORMS.items()}
        for name in names
    }


@pytest.mark.parametrize(
    ("kinds", "empty"),
    [(("tabular",), OF_IMAGES), (("vision",), OF_TABLES), ((), set(TABLES) - NEITHER)],
    ids=["tables only", "images only", "nothing"],
)
def test_a_table_without_a_data_set_says_why_in_every_form(tmp_path, kinds, empty):
    texts = make_tables(bench_of(tmp_path, *kinds), tmp_path)
    told = {name for name in TABLES if "There is nothing to show" in texts[name]["json"]}
    assert told == empty
    for name in told:
        document = json.loads(texts[name]["json"])
        assert "names no data set" in document["caption"] and "'tables." in document["caption"]
        assert "names no data set" in texts[name]["html"]
        assert "names no data set" in texts[name]["markdown"]
        assert "names no data set" in texts[name]["latex"]
        assert list(csv.DictReader(texts[name]["csv"].splitlines())) == []
    page = tmp_path / "page.html"
    documents = [str(tmp_path / "tables" / f"{name}.json") for name in TABLES]
    run = {"config": CONFIG, "config_name": "x", "unavailable": {}, "benchmarks": str(tmp_path)}
    make_page(documents, [], [], run, ROOT, str(page))
    assert page.read_text().count("There is nothing to show") >= len(told)


@pytest.mark.parametrize("name", ["mine", "searches", "data"])  # the last two: ids of the page
def test_an_experiment_has_its_table_and_its_picture_on_the_page(tmp_path, name):
    """Both are called as it is, and a page has no two parts of one id."""
    write_json(tmp_path / "own.json", text_table(name, name, "Dataset", ["Score"], {"wine": [1.0]}))
    config = CONFIG | {"experiments": {name: {"datasets": [], "methods": []}}}
    run = {"config": config, "config_name": "x", "unavailable": {}, "benchmarks": str(tmp_path)}
    output = {form: str(tmp_path / f"{name}.{form}") for form in ("png", "pdf", "csv")}
    write_figure(draw_reason("not finished"), [], output)
    write_json(tmp_path / "figure.json", {"missing": None})
    figure = {"id": name, "title": name, "png": output["png"], "pdf": output["pdf"]}
    figure["report"] = str(tmp_path / "figure.json")
    page = tmp_path / "page.html"
    make_page([str(tmp_path / "own.json")], [figure], [], run, ROOT, str(page))
    ids = re.findall(r'\sid="([^"]+)"', page.read_text())
    assert len(ids) == len(set(ids)) and {f"experiment-{name}", f"{name}-scores"} <= set(ids)
    assert set(re.findall(r'href="#([^"]+)"', page.read_text())) <= set(ids)


def test_the_reason_names_the_key_and_the_group(tmp_path):
    bench = bench_of(tmp_path, "tabular")
    assert why_table_empty(bench, "table1") == (
        "There is nothing to show: the config key 'tables.table1.datasets' names no data set: "
        "the group vision is empty."
    )
    bench.config["tables"]["table1"]["datasets"] = []
    assert why_table_empty(bench, "table1").endswith("names no data set.")


def test_a_figure_without_a_data_set_says_why(tmp_path):
    bench = bench_of(tmp_path)
    for name in ("figure2", "figure3", "figure4", "curves", "densities", "critical_difference"):
        assert files(bench, figure_request(bench, name)) == []
    output = {form: str(tmp_path / f"figure2.{form}") for form in ("png", "pdf", "csv", "json")}
    make_figure("figure2", bench, output)
    assert (tmp_path / "figure2.png").read_bytes().startswith(b"\x89PNG")
    assert "'figures.figure2.datasets' names no data set" in (tmp_path / "figure2.csv").read_text()


def test_the_workflow_plans_without_images(workdir):
    changes = {
        "datasets": {"vision": []},
        "tables": {t: {"datasets": ["wine"]} for t in ("table3", "table4")},
        "figures": {"figure4": {"datasets": ["wine"]}},
        "stand_ins": {"cifar10": "wine"},
        "page": {"tables": "all", "figures": "all"},
    }
    plan = workdir.plan(**changes)
    assert plan.counts["split_images"] == 0 and plan.counts["split_table"] == 1
    assert plan.counts["table"] == len(TABLES) and plan.counts["page"] == 1
