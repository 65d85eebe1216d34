"""The house: packages without circles, no Snakemake in the science, no document outside."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iunet.runs.versions import imports_of

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "iunet").rglob("*.py"))
SNAKEMAKES_SIDE = {"cli.py"}  # the command


def package_of(module: str) -> str:
    """The package below `iunet` that a module lies in, or the module itself."""
    return ".".join(module.split(".")[:2])


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_packages_do_not_import_each_other_in_circles():
    graph: dict[str, set[str]] = {}
    for path in FILES:
        here = package_of(name_of(path))
        found = {package_of(module) for module in imports_of(path)} - {here, "iunet"}
        graph.setdefault(here, set()).update(found)
    list(graphlib.TopologicalSorter(graph).static_order())  # raises a CycleError that names them


def test_science_does_not_know_snakemake():
    for path in FILES:
        if str(path.relative_to(ROOT / "iunet")) in SNAKEMAKES_SIDE:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "snakemake" for name in names), path


@pytest.mark.parametrize(
    "package", ["runs", "results", "tables", "figures.catalog", "networks.catalog"]
)
def test_what_every_start_imports_is_light(package):
    heavy = "{'torch', 'pandas', 'numpy', 'sklearn', 'pyarrow', 'matplotlib', 'scipy', 'jinja2'}"
    folder = ROOT / "iunet" / package.replace(".", "/")
    names = sorted(path.stem for path in folder.glob("[!_]*.py")) if folder.is_dir() else []
    modules = [f"iunet.{package}.{name}" for name in names] or [f"iunet.{package}"]
    code = f"import sys, {', '.join(modules)}; print(sorted({heavy} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert output.stdout == "[]\n", output.stderr


def test_no_file_refers_to_a_document_outside():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    files = [ROOT / line for line in tracked.split()] or FILES
    here = Path(__file__).name
    for path in files:
        if path.suffix in (".py", ".md", ".yaml", ".smk", ".txt", ".rst", ".csv", "") and (
            path.is_file() and path.name != here
        ):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not re.search(r"\bSPEC\b|STYLE\.md", text), path


def test_nothing_is_read_or_written_with_pickle():
    """Nor with what is pickle under another name: reading it would run what is in the file."""
    modules = {"pickle", "cPickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}
    functions = {("torch", "load"), ("torch", "save"), ("pd", "read_pickle")}
    for path in [*(ROOT / "iunet").rglob("*.py"), *(ROOT / "workflow").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not modules & {name.name.split(".")[0] for name in node.names}, path
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in modules, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in functions, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert getattr(node.value, "value", True) is False, path
