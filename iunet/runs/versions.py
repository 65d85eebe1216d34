"""A fingerprint of the code behind a stage, so that changed science is run again.

Snakemake reruns a job when its script, parameters or inputs change, but does not look into the
modules a script imports. Rules therefore carry `science_version("iunet.data.split")` among their
parameters: a hash of that module and all `iunet` modules it imports, at the top or inside
functions. Comments, docstrings and blank lines do not count, nor do the modules in `PLUMBING`,
which carry results but do not make them.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import json
import tokenize
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
PLUMBING = {"iunet", "iunet.errors", "iunet.artifacts", "iunet.runs.versions"}


@functools.cache
def science_version(*modules: str) -> str:
    """Twelve hex digits that change when the code of the modules or of their imports changes."""
    digest = hashlib.sha256()
    for name in sorted(set().union(*map(_closure, modules))):
        digest.update(f"{name}\n{_essence(name)}\n".encode())
    return digest.hexdigest()[:12]


def digest(*parts: Any) -> str:
    """Twelve hex digits for plain values (numbers, text, lists, dictionaries)."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def _closure(module: str) -> set[str]:
    found, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in found and name not in PLUMBING:
            found.add(name)
            todo.extend(_imports(name))
    return found


def _path(module: str) -> Path:
    base = PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@functools.cache
def _imports(module: str) -> set[str]:
    """The `iunet` modules that a module imports, anywhere in its text."""
    return _imports_of_text(_path(module).read_text(encoding="utf-8"))


def _imports_of_text(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == "iunet" and _path(name).is_file()}


def _essence(module: str) -> str:
    """The module's source without comments, docstrings and blank lines."""
    return _essence_of_text(_path(module).read_text(encoding="utf-8"))


@functools.cache
def _essence_of_text(source: str) -> str:
    """Made from source positions, not from `ast.dump`: its text differs between Python versions."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for row in range(docstring.lineno - 1, docstring.end_lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())
