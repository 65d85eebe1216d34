"""The `snakemake` command finds the target wherever it stands."""

from __future__ import annotations

import shlex

import pytest

from iunet.cli import targets_first


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("--cores 8 --resources gpu=1 t.csv", "t.csv --cores 8 --resources gpu=1"),
        ("--config a=1 b=2 t.csv -n", "t.csv --config a=1 b=2 -n"),
        ("--configfile a.yaml b.yml t.csv u.md", "t.csv u.md --configfile a.yaml b.yml"),
        ("--configfile a.yaml -- t.csv", "--configfile a.yaml -- t.csv"),
        ("t.csv --resources gpu=1 --cores 2", "t.csv --resources gpu=1 --cores 2"),
        ("-n t.csv --forcerun rule1 rule2", "-n t.csv --forcerun rule1 rule2"),
        ("--config 'data={mirror: x}'", "--config 'data={mirror: x}'"),
        ("--configfile a.yaml b/report.json", "b/report.json --configfile a.yaml"),
        ("--sdm conda t.csv --set-threads r=2 u.csv", "t.csv u.csv --sdm conda --set-threads r=2"),
        ("", ""),
    ],
)
def test_targets_first(given, understood):
    assert targets_first(shlex.split(given)) == shlex.split(understood)


@pytest.mark.parametrize(
    "command",
    [
        "--cores 8 --resources gpu=1 results/tables/table9.csv -n",
        "-n --cores 8 --config seeds=[0] results/tables/table9.csv",
    ],
)
def test_the_users_command_as_it_is_typed(workdir, command):
    result = workdir.snakemake(*shlex.split(command))
    assert result.returncode == 0, result.stderr
    assert "download_table" in result.stdout + result.stderr
