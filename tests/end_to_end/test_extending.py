"""Additions as docs/extending.md says: its own blocks, in a copy of the project after a run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest
import yaml
from conftest import ROOT
from snakemake.utils import update_config
from test_provenance import Project

TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
# The state of every job that results of config/test.yaml come from: settings and code.
STATES = """
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/helpers")
from configs import benchmark, merged
from iunet.runs.lineage import Lineage
from iunet.runs.stages import STAGES
bench = benchmark(merged("test"))
lineage = Lineage(bench, STAGES)
files = [path for cell in bench.cells for path in bench.results_of(cell)]
print(json.dumps({path: lineage.maker(path).state for path in files}))
"""


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", TEXT, re.M | re.S)
    return [textwrap.dedent(text) for _, text in found]


def add_everything(project: Project) -> list[str]:
    """Every file, entry and key of the document; the catalogs that have got an entry."""
    catalogs = []
    for block in blocks("(?:python|text)"):
        place, _, text = block.partition("\n")
        if found := re.fullmatch(r"# in (\w+) of (\S+)", place):
            old = re.search(
                rf"^{found[1]} = [{{(].*?^[}})]", (project.path / found[2]).read_text(), re.M | re.S
            )[0]
            new = old[:-1] + textwrap.indent(text, "    ") + old[-1]
            project.edit(found[2], old, new)
            catalogs.append(found[1])
        elif found := re.fullmatch(r"# (\S+)", place):
            assert not (project.path / found[1]).exists()
            (project.path / found[1]).write_text(block)
    overlay: dict = {}
    for block in blocks("yaml"):
        if found := re.match(r"# (\S+)\n", block):
            (project.path / found[1]).write_text(block)
        else:
            update_config(overlay, yaml.safe_load(block))
    update_config(overlay, {"data": {"registry": ["config/datasets.csv", "mine.csv"]}})
    del overlay["tables"]["table7"]  # a method of all tables, of which no run is needed here
    (project.path / "mine.csv").write_text(blocks("csv")[0])
    (project.path / "mine.yaml").write_text(yaml.safe_dump(overlay))
    return catalogs


def python(project: Project, program: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(project.path)}
    command = [sys.executable, "-c", program, str(ROOT)]
    result = subprocess.run(
        command, cwd=project.path, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def project(finished, tmp_path_factory) -> Project:
    return Project.after(finished, tmp_path_factory.mktemp("extending") / "project")


def test_additions_are_what_the_document_says(project):
    before = json.loads(python(project, STATES))
    catalogs = add_everything(project)
    kinds = {"OBJECTIVES", "SCORES", "SCHEDULES", "NETWORKS", "LEARNERS", "SOURCES", "TABLES"}
    assert set(catalogs) == kinds
    assert json.loads(python(project, STATES)) == before  # nothing that exists is made again
    tables = project.path / "results" / "test" / "tables"
    files = [f"results/test/tables/{name}.csv" for name in ("widths", "toys", "scores")]
    files.append("results/test/data/rings/data.json")
    assert "snakemake --cores 2 experiments --configfile lamp.yaml\n" in blocks("bash")
    project.edit("lamp.yaml", "[omp, omp_layerwise, omp_lamp]", "[omp, omp_lamp]")
    overlays = ("config/test.yaml", "mine.yaml", "lamp.yaml")
    code, output = project.snakemake(*files, overlay=overlays)
    assert code == 0, output[-3000:]
    shown = (tables / "toys.csv").read_text()
    assert all(method in shown for method in ("dense_linear", "smoothed", "nearest"))
    assert "omp_lamp" in (tables / "scores.csv").read_text()
    assert "Parameters of the networks" in (tables / "widths.md").read_text()
    runs = project.path / "results" / "test" / "runs" / "wine"
    assert (runs / "mlp_tab" / "kappa1-sup" / "seed0" / "ratio8-lamp" / "mask.json").exists()
    assert (runs / "toy" / "kappa1-smoothed" / "seed0" / "ratio8" / "evaluation.json").exists()
    assert (runs / "toy" / "dense-linear" / "seed0" / "evaluation.json").exists()
    assert (runs / "nearest" / "seed0" / "evaluation.json").exists()


def test_a_stage_is_a_plain_function(project, tmp_path):
    """The document's call, with the inputs of the run above."""
    call = next(block for block in blocks("python") if "train_supernet(" in block)
    for old, new in (("demo", "test"), ("breast_cancer", "wine"), ("mlp_tab", "toy")):
        call = call.replace(old, new)
    python(project, call.replace("/tmp", str(tmp_path)))
    assert json.loads((tmp_path / "report").read_text())["failed"] is None


def test_another_workflow_may_use_the_rules(project, tmp_path):
    """`module iunet:` with renamed rules, on a table of its own: jobs run, and their reasons are as
    good as here."""
    rows = [f"{i},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60)]
    (tmp_path / "customers.csv").write_text("\n".join(["age,zip_code,label", *rows]))
    (tmp_path / "mine.csv").write_text(
        "name,kind,source,location,target,categorical\n"
        "customers,tabular,file,customers.csv,label,zip_code\n"
    )
    (tmp_path / "Snakefile").write_text(
        f"""
configfile: "{project.path}/config/config.yaml"
configfile: "{project.path}/config/test.yaml"

config["data"]["registry"] = ["{project.path}/config/datasets.csv", "mine.csv"]
config["tables"]["table9"] = {{"datasets": ["customers"]}}

module iunet:
    snakefile: "{project.path}/workflow/Snakefile"
    config: config

use rule * from iunet as iunet_*
"""
    )
    other = Project(tmp_path)
    target = "results/test/tables/table9.csv"
    code, output = other.snakemake(target, overlay=())
    assert code == 0, output[-3000:]
    assert "customers" in (tmp_path / target).read_text()
    project.edit("iunet/data/split.py", "MIN_ROWS = 5", "MIN_ROWS = 6")
    code, output = other.snakemake(target, "-n", "-p", overlay=())
    assert "iunet.data.split" in output and "download" not in output
