"""The versions of the code behind a job, one for each module of science.

Snakemake does not look into the modules that a script imports, and at a script only by its time of
modification, which is new in every checkout. So every rule carries, as parameters, a line for its
script and for each module that can change a number of its outputs:

    iunet.training.loop 45439a88

and Snakemake's reason for a rerun names the module that changed. The modules are those that the
rule's script imports, at the top or inside functions, and all that these import in turn. Comments,
docstrings and blank lines do not count, nor does plumbing: modules that carry results, report on
them or ask for them, but do not make them.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
# Modules and packages without influence on any number. tests/rules/test_lineage.py watches that
# every other module that a script can reach is among the parameters of its rule.
PLUMBING = (
    "iunet",  # the package's own file
    "iunet.errors",
    "iunet.escape",  # how texts are written, not which
    "iunet.artifacts",
    "iunet.provenance",
    "iunet.networks.catalog",  # the file that builds a network is a parameter of its own
    "iunet.method.catalog",  # so are the files of objectives, scores and schedules
    "iunet.baselines.catalog",
    "iunet.data.registry",
    "iunet.data.sizes",
    "iunet.data.sources",  # the source's own file counts
    "iunet.tables.catalog",
    "iunet.figures.catalog",
)
PACKAGES_OF_PLUMBING = (
    "iunet.runs.",  # names, paths, settings: what they decide is itself a parameter
    "iunet.machine.",
    "iunet.training.support.",
)

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")  # of statements, in Python's grammar


def is_plumbing(module: str) -> bool:
    return module in PLUMBING or f"{module}.".startswith(PACKAGES_OF_PLUMBING)


@functools.cache
def script_code(script: Path) -> list[str]:
    """The lines of a rule's script: its own, and those of all science that it imports."""
    return [f"{script.name} {_read(script).version}", *code_lines(*imports_of(script))]


@functools.cache
def code_lines(*modules: str) -> list[str]:
    """`<module> <version>` of the modules and of all science that they import, by name."""
    return [f"{name} {version(name)}" for name in sorted(closure(modules))]


def current_versions(modules: Iterable[str]) -> dict[str, str]:
    """The versions of modules as they are now; those that are gone are left out."""
    return {name: version(name) for name in modules if _path(name).is_file()}


def version(module: str) -> str:
    """Eight hex digits that change when the module's code does."""
    return _read(_path(module)).version


def imports_of(path: Path) -> frozenset[str]:
    """The `iunet` modules that a file imports, anywhere in its text but for type checking."""
    return _read(path).imports


def closure(modules: Iterable[str]) -> set[str]:
    """The modules of science that are reached from these."""
    found: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in found and not is_plumbing(name):
            found.add(name)
            todo.extend(imports_of(_path(name)))
    return found


def _path(module: str) -> Path:
    base = PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


class Source(NamedTuple):
    """What counts of a file of Python."""

    version: str
    imports: frozenset[str]


@functools.cache
def _read(path: Path) -> Source:
    source = path.read_text(encoding="utf-8")
    statements = _statements(ast.parse(source))
    digest = hashlib.sha256(_essence(source, statements).encode()).hexdigest()
    return Source(digest[:8], frozenset(_imports(statements)))


def _imports(statements: list[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == "iunet" and _path(name).is_file()}


def _essence(source: str, statements: list[ast.AST]) -> str:
    """A module's source without comments, docstrings and blank lines.

    Made from source positions, not from `ast.dump`: its text differs between Python versions.
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in statements:
        if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for row in range(docstring.lineno - 1, docstring.end_lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _statements(module: ast.Module) -> list[ast.AST]:
    """The module and its statements at any depth, but not what is for type checking alone.

    Expressions, nine nodes of ten, are not walked: this is done for every module at each start.
    """
    found: list[ast.AST] = []
    todo: list[ast.AST] = [module]
    while todo:
        node = todo.pop()
        found.append(node)
        checks_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for field in BLOCKS:
            if not (checks_types and field == "body"):
                todo.extend(getattr(node, field, ()))
    return found
