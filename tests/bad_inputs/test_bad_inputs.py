"""Bad inputs, each answered by one paragraph that names the file, key or value.

The cases stand in the YAML files beside this one. Every answer is a `UserError`, which ends the
command with exit code 1 and without a traceback.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from configs import ROOT, benchmark, merged
from snakemake.utils import update_config

from iunet.cli import main as command
from iunet.cli import prepared
from iunet.data.download import download
from iunet.data.registry import mirror_index, read_registry
from iunet.data.sources import SourceSettings
from iunet.errors import UserError
from iunet.figures.catalog import figure_titles
from iunet.runs.targets import check_targets
from iunet.tables.catalog import table_names

HERE = Path(__file__).parent
REGISTRIES = ["config/datasets.csv", "own.csv"]


def cases(name: str) -> dict[str, dict[str, Any]]:
    text = (HERE / f"{name}.yaml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    assert len(re.findall("^[^#\\s].*: {", text, re.M)) == len(found)  # no name twice
    return found


CONFIG, TABLES, FILES = cases("config"), cases("tables"), cases("files")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the project's config is."""
    path = tmp_path_factory.mktemp("bad_inputs")
    shutil.copytree(ROOT / "config", path / "config")
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def content(case: dict[str, Any], key: str) -> bytes:
    hexadecimal = case.get("hex" if key == "text" else f"{key}_hex")
    return bytes.fromhex(hexadecimal) if hexadecimal else case[key].encode()


def check_answer(caught: Any, says: list[str]) -> None:
    """All that must be said, in one paragraph without a traceback."""
    text = str(caught.value)
    for fragment in says:
        assert fragment in text
    assert "Traceback" not in text and "\n" not in text.strip()


@pytest.mark.parametrize("name", CONFIG)
def test_config(name):
    case = CONFIG[name]
    changes = case.get("set", {})
    if "method" in case:
        experiment = {"datasets": ["wine"], "methods": ["mine"]}
        changes = {"methods": {"mine": case["method"]}, "experiments": {"mine": experiment}}
    config = merged("test")
    update_config(config, changes)
    with pytest.raises(UserError) as caught:
        bench = benchmark(config)
        shown = {"table": table_names(bench.config), "figure": figure_titles(bench)}
        check_targets(bench, ["--cores", "2", case["target"]], shown)
    check_answer(caught, case["says"])


@pytest.mark.parametrize("name", TABLES)
def test_own_table(folder, name):
    """The registry's file and line are named too, whatever the fault."""
    case = TABLES[name]
    path = folder / case.get("file", "mine.csv")
    row = {"name": "mine", "kind": "tabular", "source": "file", "location": path.name}
    row |= {"target": "label"} | case.get("row", {})
    (folder / "own.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    if case.get("directory"):
        path.mkdir()
    elif case.get("loop"):
        path.symlink_to(path.name)
    elif not case.get("absent"):
        path.write_bytes(content(case, "text"))
    dataset = read_registry(["own.csv"])["mine"]
    output = folder / "data" / "mine"
    try:
        with pytest.raises(UserError) as caught:
            download(dataset, SourceSettings(), output / "data.parquet", output / "data.json")
        check_answer(caught, [*case["says"], "'mine'", "own.csv, line 2"])
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert list(output.iterdir()) == []


@pytest.mark.parametrize("name", FILES)
def test_files(folder, name):
    case = FILES[name]
    kind = next(key for key in ("overlay", "registry", "mirror") if key in name)
    written = content(case, kind)
    if kind == "overlay":
        (folder / "my.yaml").write_bytes(written)
        with pytest.raises(UserError) as caught:
            prepared(["-n", "--configfile", "config/test.yaml", "my.yaml"])
    elif kind == "registry":
        (folder / "own.csv").write_bytes(written)
        with pytest.raises(UserError) as caught:
            benchmark(merged("test", data={"registry": REGISTRIES}))
    else:
        index = folder / "mirror" / "tabular" / "index.csv"
        index.parent.mkdir(parents=True, exist_ok=True)
        index.write_bytes(written)
        with pytest.raises(UserError) as caught:
            mirror_index("mirror")
    check_answer(caught, case["says"])


# ---- whole commands


def test_a_broken_overlay_ends_the_command(folder, monkeypatch):
    (folder / "broken.yaml").write_text("seeds: [0\n")
    words = ["snakemake", "t.csv", "-n", "--configfile", "config/test.yaml", "broken.yaml"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit, match=r"broken\.yaml cannot be read as YAML or JSON"):
        command()


def test_from_another_folder_the_config_is_missed_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"There is no config/config.yaml in {tmp_path}"):
        benchmark({"seeds": [0]})


def test_without_torch_a_job_points_to_make_setup():
    """A package that is not installed is no bug of the workflow's."""
    scripts = ROOT / "workflow" / "scripts"
    program = f"import sys; sys.path.insert(0, {str(scripts)!r}); sys.modules['torch'] = None\n"
    program += "import _job\nimport iunet.training.supernet\n"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1
    assert "The package 'torch' is not installed" in result.stderr
    assert "make setup" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("number", ["SIGINT", "SIGHUP", "SIGQUIT"])
def test_an_interrupted_job_shows_no_traceback(number):
    scripts = ROOT / "workflow" / "scripts"
    program = f"import sys, os, signal; sys.path.insert(0, {str(scripts)!r})\nimport _job\n"
    program += f"_job.interrupt_at_hangup()\nos.kill(os.getpid(), signal.{number})\n"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "Interrupted." in result.stderr and "Traceback" not in result.stderr


def test_what_cannot_be_seen_in_a_name_is_an_escape_in_the_log(tmp_path):
    scripts = ROOT / "workflow" / "scripts"
    program = f"import sys, logging; sys.path.insert(0, {str(scripts)!r})\nimport _job\n"
    program += f"_job._open_log(_job.Path({str(tmp_path / 'log')!r}))\n"
    program += "log = logging.getLogger('iunet.data.download')\n"
    program += "log.warning('column %s: 5 %%', 'a\\x1b[2J\\nb\\u202e')\n"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    for text in (result.stderr, (tmp_path / "log").read_text()):
        assert r"column a\x1b[2J\nb\u202e: 5 %" in text and text.count("\n") == 1
    assert str(UserError("a\x1b[2J\nb")) == r"a\x1b[2J\nb"


def test_an_interrupted_command_shows_no_traceback(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n"])
    monkeypatch.setattr("iunet.cli.interrupt_at_hangup", lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == 130 and capsys.readouterr().err == "Interrupted.\n"


def test_damaged_records_of_snakemake_are_named(folder, monkeypatch, capsys):
    record = folder / ".snakemake" / "metadata" / "abc"
    record.parent.mkdir(parents=True)
    record.write_bytes(b"\xff\xfe")
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n", "--config", "no=such", "key=1"])
    with pytest.raises(SystemExit):
        command()
    assert ".snakemake/metadata/abc, a record of Snakemake's, is damaged" in capsys.readouterr().err
