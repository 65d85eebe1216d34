"""A network and a table, added as docs/extending.md says: one file and one line each."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
from test_provenance import NOTHING, Project

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "extending.md").read_text()


def block(heading: str, number: int, language: str = "python") -> str:
    """A code block of a section of docs/extending.md."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```", section, re.M | re.S)
    return textwrap.dedent(blocks[number][1])


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    return Project.fresh(tmp_path_factory.mktemp("extending") / "project")


def test_a_network_and_a_table_are_one_file_and_one_line_each(project):
    trained = "results/test/runs/wine/mlp_tab/kappa0.25-ilo/seed0/supernet.json"
    project.run(trained)

    (project.path / "iunet" / "networks" / "toy.py").write_text(block("A network", 0))
    project.edit(
        "iunet/networks/catalog.py",
        "NETWORKS = {\n",
        "NETWORKS = {\n" + textwrap.indent(block("A network", 1), "    "),
    )
    (project.path / "iunet" / "tables" / "widths.py").write_text(block("A table", 0))
    cost = '    "cost": BEYOND,\n'
    project.edit("iunet/tables/catalog.py", cost, f'{cost}    "widths": BEYOND,\n')
    overlay = project.path / "config" / "test.yaml"
    text = overlay.read_text().replace("networks:\n", "networks:\n  toy: {units: 8}\n", 1)
    text = text.replace(
        "tables:\n",
        "tables:\n" + "  widths: {datasets: [wine], networks: [toy], methods: [iunet]}\n",
        1,
    )
    overlay.write_text(
        text + "\nexperiments:\n  toys: {datasets: [wine], networks: [toy], methods: [iunet]}\n"
    )

    assert NOTHING in project.run(trained)
    toy = "results/test/runs/wine/toy/kappa0.25-ilo/seed0/ratio8/evaluation.json"
    project.run(toy, "results/test/tables/widths.csv")
    report = json.loads((project.path / toy).read_text())
    assert report["network"]["name"] == "toy" and "test_accuracy" in report["metrics"]
    table = (project.path / "results" / "test" / "tables" / "widths.md").read_text()
    assert "Parameters of the networks" in table and "iunet" in table
    project.run("experiments")
    own = project.path / "results" / "test" / "tables" / "toys.csv"
    assert {"wine", "iunet"} <= set(own.read_text().replace("\n", ",").split(","))
    assert (own.parent.parent / "figures" / "toys.png").stat().st_size > 1000
    (project.path / "results" / "test" / "tables" / "widths.json").unlink()
    planned = project.run("-n", "results/test/report/index.html")
    assert "widths.json" in planned


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
    code, output = other.snakemake(target, overlay=None)
    assert code == 0, output[-3000:]
    assert "customers" in (tmp_path / target).read_text()
    code, output = other.snakemake(target, overlay=None)
    assert NOTHING in output
    project.edit("iunet/data/split.py", "MIN_ROWS = 5", "MIN_ROWS = 6")
    code, output = other.snakemake(target, "-n", overlay=None)
    assert "iunet.data.split" in output and NOTHING not in output
