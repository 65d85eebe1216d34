"""README.md and the pages of commands: commands plan, examples run, numbers are current."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import ROOT
from snakemake.cli import parse_args, parse_config

from iunet import IUNetClassifier
from iunet.cli import targets_first
from iunet.cost import Estimate
from iunet.estimator.command import main as iunet_command
from iunet.runs.overlays import merged_config
from iunet.runs.schema import plain
from iunet.shown import benchmark

README = (ROOT / "README.md").read_text()
OWN_DATA = (ROOT / "docs" / "own-data.md").read_text()
DOCS = [(ROOT / "docs" / f"{name}.md").read_text() for name in ("reproduce", "cluster")]
PAGES = [README, OWN_DATA, *DOCS]


def blocks(language: str, *pages: str) -> list[str]:
    text = "\n".join(pages)
    return [dedent(b) for b in re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)]


def commands(*pages: str) -> list[list[str]]:
    """The words of each command, without repetitions."""
    lines = "\n".join(blocks("bash", *pages)).replace("\\\n", " ").splitlines()
    found = [shlex.split(line, comments=True) for line in lines]
    return [words for i, words in enumerate(found) if words and words not in found[:i]]


COMMANDS = commands(*PAGES)
PART = {"seeds": [0], "datasets": {"tabular": ["vehicle", "credit-g"]}}
SNAKEMAKE = [words[1:] for words in COMMANDS if words[0] == "snakemake"]
CONFIGS = re.findall(
    r"^\| `config/([\w-]+)\.yaml` \|.*\| (.* CPU-hours.*) \|$", README, re.MULTILINE
)


def test_every_command_is_one_that_a_test_runs_or_checks():
    kinds = {"snakemake", "iunet", "make", "pip", "source", "tail"}  # the first two run below
    kinds |= {"git", "echo", "$EDITOR", "python", ".venv/bin/python"}
    assert {program_of(words)[0] for words in COMMANDS} <= kinds
    assert "make demo" in README and "`make test`" in README
    user = ["--cores", "8", "--resources", "gpu=1", "results/tables/table2.csv"]
    assert user in SNAKEMAKE


def program_of(words: list[str]) -> list[str]:
    """Without the variables that are set for it."""
    return words[1:] if "=" in words[0] else words


def test_extras_that_are_installed_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    asked = re.findall(r"pip install '\.\[(\w+)\]'", "\n".join(PAGES))
    assert "export" in asked and set(asked) <= set(extras)


@pytest.mark.parametrize(("name", "told"), CONFIGS, ids=[name for name, _ in CONFIGS])
def test_configs_cost_what_the_table_says(name, told):
    """By `make cost`, within 2 %."""
    device = "cuda" if "GPU" in told else "cpu"
    config = merged_config([f"config/{name}.yaml"] if name != "config" else [])
    estimate = Estimate(benchmark(config | {"device": device, "results": "results/nothing-there"}))
    total = estimate.frame(estimate.everything())[["GPU-hours", "CPU-hours"]].sum()
    if name == "cpu-study":
        (first,) = estimate.makers(["results/nothing-there/tables/six_tables.csv"])
        part = estimate.frame(estimate.jobs([first]))["CPU-hours"].sum()
        expected = [part, total["CPU-hours"]]
    else:
        expected = [*total]
    hours = [
        float(number.replace(",", "")) for number in re.findall(r"([\d.,]+) (?:[CG]PU|for)", told)
    ]
    assert hours == pytest.approx(expected, rel=0.02)
    if name == "config":  # docs/cluster.md has its tables
        costs = estimate.by_table()
        rows = re.findall(
            r"^\| (table|figure|controls) ?(\d?)\S* .*?\| ([\d,]+) \| (\d+)", DOCS[1], re.M
        )
        assert len(rows) == 8
        for kind, number, jobs, gpu_hours in rows:
            cost = costs.loc[f"{kind}{number}"]
            assert int(jobs.replace(",", "")) == cost["jobs"], kind + number
            assert float(gpu_hours) == pytest.approx(cost["GPU-hours"], abs=0.6)


def test_make_commands_exist():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    asked = re.findall(
        r"make ([a-z]+)",
        "\n".join([*map(" ".join, COMMANDS), *re.findall("`.*?`", "\n".join(PAGES))]),
    )
    assert {"demo", "test", "cost"} <= set(asked) <= set(targets)


@pytest.mark.parametrize("words", SNAKEMAKE, ids=" ".join)
def test_snakemake_commands_plan(workdir, words):
    (workdir.path / "mine.csv").write_text(blocks("csv", OWN_DATA)[0])
    (workdir.path / "mine.yaml").write_text(blocks("yaml", OWN_DATA)[0])
    workdir.overlay("gpu.yaml", {"device": "cuda", **PART})
    for name in ("customers.csv", "tumours.csv", "photos.npz"):
        (workdir.path / name).touch()
    mirror = workdir.path / "mirror" / "tabular"
    mirror.mkdir(parents=True)
    (mirror / "index.csv").write_text("name,file,sha256\nvehicle,vehicle.parquet,0\n")
    words = [word.replace("/path/to/mirror", "mirror") for word in words]
    _, arguments = parse_args(targets_first(words))
    config = plain(dict(parse_config(arguments.config)))
    overlays = tuple(map(str, arguments.configfile or ()))
    if not overlays and "own" not in config:  # a part of the paper shows that the whole plans
        config = {**PART, **config}
    plan = workdir.plan_with(overlays, *arguments.targets, **config)
    assert plan.jobs


def test_the_classifiers_examples_run(tmp_path, monkeypatch, capsys):
    """The unchanged examples, with a small network and short trainings as defaults."""
    monkeypatch.chdir(tmp_path)
    small = {"width": 16, "depth": 2, "supernet_epochs": 2, "first_cycle_epochs": 2, "cycles": 2}
    defaults = IUNetClassifier.__init__.__kwdefaults__
    monkeypatch.setattr(IUNetClassifier.__init__, "__kwdefaults__", defaults | small)
    names: dict = {}
    for program in dict.fromkeys(blocks("python", README, OWN_DATA)):
        exec(compile(program, "own-data.md", "exec"), names)
    assert 0.5 < float(capsys.readouterr().out.split()[0]) <= 1
    new = names["test"].drop(columns="target")
    assert (names["again"].predict(new) == names["model"].predict(new)).all()
    for command in [words[1:] for words in COMMANDS if words[0] == "iunet"]:
        assert iunet_command(command) == 0, capsys.readouterr().err
    assert len(Path("predictions.csv").read_text().splitlines()) == 1 + len(new)
    assert list(Path("shipped").iterdir())


def test_the_picture_shows_the_rules_of_the_workflow():
    """`make dag` draws it again."""
    drawn = set(re.findall(r">([a-z_0-9]+)</text>", (ROOT / "docs" / "dag.svg").read_text()))
    rules = set()
    for path in [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]:
        rules |= set(
            re.findall(r"^(?:use )?rule (?:\w+ as )?(\w+)(?: with)?:", path.read_text(), re.M)
        )
    assert drawn == rules - {"download_all", "experiments"}  # these two make no files


def test_nothing_names_the_authors_machine():
    """Absolute paths of one machine have no place in what users read or run."""
    files = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("config/*"), ROOT / "Makefile"]
    for path in files:
        assert not re.search(r"/(root|home|work)/", path.read_text()), path
