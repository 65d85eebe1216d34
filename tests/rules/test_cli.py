"""The `snakemake` command finds the target wherever it stands."""

from __future__ import annotations

import shlex

import pytest
from snakemake.exceptions import WorkflowError

from iunet.artifacts import write_json
from iunet.cli import ASSIGNMENTS, CONFIG_FILES, joined, prepared, targets_first
from iunet.errors import UserError


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("--cores 8 --resources gpu=1 t.csv", "t.csv --cores 8 --resources gpu=1"),
        ("--config a=1 b=2 t.csv -n", "t.csv --config a=1 b=2 -n"),
        ("--configfile a.yaml b.yml t.csv u.md", "t.csv u.md --configfile a.yaml b.yml"),
        ("--configfile a.yaml -- t.csv", "--configfile a.yaml -- t.csv"),
        ("t.csv --resources gpu=1 --cores 2", "t.csv --resources gpu=1 --cores 2"),
        ("-n t.csv --forcerun rule1 rule2", "t.csv -n --forcerun rule1 rule2"),
        ("t.csv --cores 2 u.csv -n v.csv", "t.csv u.csv v.csv --cores 2 -n"),
        ("t.csv -c2 u.csv --cores=2 v.csv", "t.csv u.csv v.csv -c2 --cores=2"),
        ("--configfile new.json t.csv", "t.csv --configfile new.json"),
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


def test_a_json_file_that_is_no_result_is_an_overlay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.json").write_text('{"seeds": [0]}')
    write_json(tmp_path / "report.json", {})
    words = shlex.split("--configfile a.yaml my.json report.json")
    assert targets_first(words) == shlex.split("report.json --configfile a.yaml my.json")


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (
            "--configfile a.yaml -n --configfiles=b.yaml t.csv --configfile c.yaml",
            "t.csv -n --configfile a.yaml b.yaml c.yaml",
        ),
        ("--config a=1 -n -C b=2 --config=c=3", "-n --config a=1 b=2 c=3"),
        ("--config 'a={b: 1}' --config 'a={c: 2}'", "--config 'a={b: 1}' 'a={c: 2}'"),
        ("--config a=1 -c 2 -- --config", "-c 2 --config a=1 -- --config"),
        ("-n t.csv", "t.csv -n"),
    ],
)
def test_a_second_config_adds_to_the_first(given, understood):
    """Snakemake would forget the first."""
    assert joined(targets_first(shlex.split(given))) == shlex.split(understood)


def test_a_key_that_is_said_twice_is_refused():
    with pytest.raises(UserError, match="--config says 2 times what 'seeds' is"):
        prepared(["-n", "--config", "seeds=[0]", "--config", "seeds=[1]"])


SNAKEMAKES = {
    "a file": lambda folder: folder.touch(),
    "a link to nothing": lambda folder: folder.symlink_to("nowhere"),
    "a file in it": lambda folder: (folder.mkdir(), (folder / "locks").touch()),
}


@pytest.mark.parametrize("case", SNAKEMAKES)
def test_snakemakes_own_folder_is_named(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    SNAKEMAKES[case](tmp_path / ".snakemake")
    with pytest.raises(UserError, match=r"\.snakemake(/locks)? is not a folder, .* Remove it"):
        prepared(["-n"])


def test_a_read_only_folder_of_snakemake_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.setattr("iunet.cli.os.access", lambda *_: False)  # root may write everywhere
    with pytest.raises(UserError, match=r"Nothing can be written to \.snakemake"):
        prepared(["-n"])


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
        with pytest.raises(UserError, match=r"there/config/config\.yaml: the file is empty"):
            prepared(shlex.split(words))


def test_code_in_a_config_file_is_refused_however_snakemake_is_started(workdir):
    """The wrapper is not asked here. Snakemake itself evaluates such a file before."""
    program = workdir.overlay("program.yaml", {"__use_yte__": True, "partial": "?1 > 0"})
    with pytest.raises(WorkflowError, match=r"program\.yaml: remove the key '__use_yte__'"):
        workdir.plan_with((program,))
