"""The house: packages without circles, no Snakemake in the science, no document outside."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

from iunet.runs.versions import imports_of

FILES = sorted((ROOT / "iunet").rglob("*.py"))
COMMANDS = {ROOT / "iunet" / "cli.py", ROOT / "iunet" / "runs" / "overlays.py"}  # of the workflow


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


def test_what_every_start_and_every_training_imports_is_light():
    """What came in is named beside the module that brought it."""
    modules = ["iunet.figures.catalog", "iunet.networks.catalog"]
    for package in ("runs", "results", "tables"):
        modules += [name_of(path) for path in (ROOT / "iunet" / package).glob("[!_]*.py")]
    code = f"""
import importlib, sys
heavy = {{"torch", "pandas", "numpy", "sklearn", "pyarrow", "matplotlib", "scipy", "jinja2"}}
for name in {sorted(modules)}:
    importlib.import_module(name)
    if heavy & set(sys.modules):
        sys.exit(f"{{name}} imports {{heavy & set(sys.modules)}}")
import iunet.method.pruning, iunet.evaluation.choice, iunet.evaluation.locality
if "torch" in sys.modules:
    sys.exit("pruning imports torch")
import iunet.training.supernet, iunet.training.finetune, iunet.evaluation.evaluate
if (heavy - {{"torch", "numpy"}}) & set(sys.modules):
    sys.exit(f"a training imports {{heavy & set(sys.modules)}}")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr


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


def test_no_file_uses_pickle_and_science_does_not_know_snakemake():
    """Nor what is pickle under another name: reading it would run what is in the file."""
    modules = {"pickle", "cPickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}
    functions = {("torch", "load"), ("torch", "save"), ("pd", "read_pickle")}
    science = set(FILES) - COMMANDS
    for path in [*FILES, *(ROOT / "workflow").rglob("*.py")]:
        refused = modules | ({"snakemake"} if path in science else set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not refused & {name.split(".")[0] for name in names}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in functions, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert getattr(node.value, "value", True) is False, path
