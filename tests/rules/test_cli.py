"""The `snakemake` command finds the target wherever it stands."""

from __future__ import annotations

import shlex

import pytest

from iunet.cli import ASSIGNMENTS, CONFIG_FILES, prepared, targets_first
from iunet.errors import UserError


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
        ("-n -q results/x.csv", "results/x.csv -n -q"),
        ("--rerun-triggers mtime params t.csv -n", "t.csv --rerun-triggers mtime params -n"),
        ("--until t.csv", "--until t.csv"),  # values that are targets stay
        ("", ""),
    ],
)
def test_targets_first(given, understood):
    assert targets_first(shlex.split(given)) == shlex.split(understood)


def test_every_option_of_snakemake_with_assignments_is_known():
    from snakemake.cli import get_argument_parser

    options = {
        name
        for action in get_argument_parser()._actions
        if action.nargs in ("+", "*") and "=" in str(action.metavar)
        for name in action.option_strings
    }
    assert "--config" in options
    assert options <= {*ASSIGNMENTS, *CONFIG_FILES}


@pytest.mark.parametrize("words", ["t.csv -n --configfiles=a.yaml", "-n --configfile b.yml a.yaml"])
def test_broken_config_files_are_named(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.yml").write_text("seeds: [0]")
    with pytest.raises(UserError, match=r"a\.yaml does not exist"):
        prepared(shlex.split(words))
    (tmp_path / "there" / "config").mkdir(parents=True)
    (tmp_path / "there" / "config" / "config.yaml").touch()
    for words in ("-n -d there", "--directory=there -n"):
        with pytest.raises(UserError, match=r"there/config/config\.yaml: it is empty"):
            prepared(shlex.split(words))
