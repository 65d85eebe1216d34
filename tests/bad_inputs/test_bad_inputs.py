"""Bad inputs, each answered by one paragraph that names the file, key or value.

The cases stand in the YAML files beside this one. Every answer is a `UserError`, which ends the
command with exit code 1 and without a traceback; and what was finished before is byte for byte what
it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from configs import benchmark, merged
from conftest import TEST_CONFIG, Workdir
from snakemake.utils import update_config

from iunet.cli import check_config_files
from iunet.data.download import download_table
from iunet.data.registry import mirror_index, read_registry
from iunet.data.sources import SourceSettings
from iunet.errors import UserError
from iunet.figures.catalog import figure_titles
from iunet.runs.targets import check_targets
from iunet.tables.catalog import table_names

HERE = Path(__file__).parent
TABLE9 = "results/test/tables/table9.csv"
REGISTRIES = ["config/datasets.csv", "own.csv"]


def cases(name: str) -> dict[str, dict[str, Any]]:
    return yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))


CONFIG, TABLES, FILES = cases("config"), cases("tables"), cases("files")


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Workdir:
    """A folder with finished results."""
    workdir = Workdir(tmp_path_factory.mktemp("bad_inputs") / "work")
    workdir.run(TABLE9, *TEST_CONFIG)
    return workdir


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in (folder / "results").rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def unchanged(done):
    """The folder, in which a test changes no result."""
    before = digests(done.path)
    assert len(before) > 10
    with contextlib.chdir(done.path):
        yield done.path
    assert digests(done.path) == before


def content(case: dict[str, Any], key: str) -> bytes:
    hexadecimal = case.get("hex" if key == "text" else f"{key}_hex")
    return bytes.fromhex(hexadecimal) if hexadecimal else case[key].encode()


def check_answer(caught: Any, says: list[str]) -> None:
    """All that must be said, in one paragraph without a traceback."""
    text = str(caught.value)
    for fragment in says:
        assert fragment in text
    assert "Traceback" not in text and "\n" not in text.strip()


def test_there_are_at_least_150_cases():
    assert len(CONFIG) + len(TABLES) + len(FILES) >= 150
    assert all(case["says"] for table in (CONFIG, TABLES, FILES) for case in table.values())


@pytest.mark.parametrize("name", CONFIG)
def test_config(unchanged, name):
    case = CONFIG[name]
    changes = case.get("set", {})
    if "method" in case:
        experiment = {"datasets": ["wine"], "methods": ["mine"]}
        changes = {"methods": {"mine": case["method"]}, "experiments": {"mine": experiment}}
    config = merged("test")
    update_config(config, changes)
    with pytest.raises(UserError) as caught:
        bench = benchmark(config)
        shown = {"tables": table_names(bench.config), "figures": figure_titles(bench)}
        check_targets(bench, ["--cores", "2", case["target"]], shown)
    check_answer(caught, case["says"])


@pytest.mark.parametrize("name", TABLES)
def test_own_table(unchanged, name):
    """The registry's file and line are named too, whatever the fault."""
    case = TABLES[name]
    path = unchanged / case.get("file", "mine.csv")
    row = {"name": "mine", "kind": "tabular", "source": "file", "location": path.name}
    row |= {"target": "label"} | case.get("row", {})
    (unchanged / "own.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    if case.get("directory"):
        path.mkdir()
    elif not case.get("absent"):
        path.write_bytes(content(case, "text"))
    dataset = read_registry(["own.csv"])["mine"]
    output = unchanged / "results" / "test" / "data" / "mine"
    try:
        with pytest.raises(UserError) as caught:
            download_table(dataset, SourceSettings(), output / "data.parquet", output / "data.json")
        check_answer(caught, [*case["says"], "'mine'", "own.csv, line 2"])
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    assert list(output.iterdir()) == []


@pytest.mark.parametrize("name", FILES)
def test_files(unchanged, tmp_path, name):
    case = FILES[name]
    kind = next(key for key in ("overlay", "registry", "mirror") if key in name)
    written = content(case, kind)
    if kind == "overlay":
        (unchanged / "my.yaml").write_bytes(written)
        with pytest.raises(UserError) as caught:
            check_config_files(["-n", "--configfile", "config/test.yaml", "my.yaml"])
    elif kind == "registry":
        (unchanged / "own.csv").write_bytes(written)
        with pytest.raises(UserError) as caught:
            benchmark(merged("test", data={"registry": REGISTRIES}))
    else:
        index = unchanged / "mirror" / "tabular" / "index.csv"
        index.parent.mkdir(parents=True, exist_ok=True)
        index.write_bytes(written)
        with pytest.raises(UserError) as caught:
            mirror_index("mirror")
    check_answer(caught, case["says"])


# ---- whole commands


def command(workdir: Workdir, *arguments: str) -> tuple[int, str]:
    result = workdir.snakemake("--cores", "2", *arguments)
    return result.returncode, result.stdout + result.stderr


def test_a_broken_overlay_ends_the_command(done, unchanged):
    (unchanged / "broken.yaml").write_text("seeds: [0\n")
    code, text = command(done, TABLE9, "-n", *TEST_CONFIG, "broken.yaml")
    assert code == 1 and "broken.yaml cannot be read" in text and "Traceback" not in text


def test_from_another_folder_the_config_is_missed_by_name(tmp_path):
    (tmp_path / "mine.yaml").write_text("seeds: [0]\n")
    workdir = Workdir(tmp_path)
    code, text = command(workdir, "-n", "--configfile", "mine.yaml")
    assert code == 1 and f"There is no config/config.yaml in {tmp_path}" in text
    assert "Traceback" not in text


def own_data(workdir: Workdir, text: str) -> tuple[str, ...]:
    (workdir.path / "mine.csv").write_text(text)
    row = "name,kind,source,location,target\nmine,tabular,file,mine.csv,label\n"
    (workdir.path / "own.csv").write_text(row)
    overlay = workdir.overlay("own.yaml", {"data": {"registry": REGISTRIES}})
    return ("results/test/data/mine/data.json", *TEST_CONFIG, overlay)


def test_a_leaked_label_ends_the_command_and_an_index_is_told(done, unchanged):
    """The answers of a job reach the terminal: the registry's line, and the warning."""
    code, text = command(done, *own_data(done, "a,label,label\n1,x,x\n2,y,y\n"))
    assert code == 1 and "two columns named 'label'" in text and "own.csv, line 2" in text
    assert "Traceback" not in text
    rows = "".join(f"{i},{i * 7 % 5},{'xy'[i > 4]}\n" for i in range(10))
    code, text = command(done, *own_data(done, f",a,label\n{rows}"))
    assert code == 0, text
    assert "the column 'Unnamed: 0' numbers the rows" in text and "left out" in text
    shutil.rmtree(done.path / "results" / "test" / "data" / "mine")
    for kind in ("logs", "benchmarks"):
        for path in (done.path / "results" / "test" / kind / "download").glob("mine*"):
            path.unlink()


def test_without_torch_a_job_points_to_make_setup(tmp_path):
    """A package that is not installed is no bug of the workflow's."""
    import subprocess

    scripts = HERE.parents[1] / "workflow" / "scripts"
    program = f"import sys; sys.path.insert(0, {str(scripts)!r}); sys.modules['torch'] = None\n"
    program += "import _job\nimport iunet.training.supernet\n"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1
    assert "The package 'torch' is not installed" in result.stderr
    assert "make setup" in result.stderr and "Traceback" not in result.stderr
