"""The version of a module changes with its code, and with nothing else."""

from __future__ import annotations

import pytest

from iunet.runs import versions as module


def forget() -> None:
    for function in (module.code_lines, module._read):
        function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: stage imports helper, nobody imports other."""
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    files = {
        "stage": "def run():\n    from iunet.helper import x\n    return x\n",
        "helper": "x = 1\n",
        "other": "y = 1\n",
        "errors": "class UserError(Exception): ...\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)

    def lines(**changes: str) -> list[str]:
        for name, text in changes.items():
            (tmp_path / f"{name}.py").write_text(text)
        forget()
        return module.code_lines("iunet.stage")

    yield lines
    forget()


def changed(one: list[str], other: list[str]) -> set[str]:
    return {line.split()[0] for line in set(one) ^ set(other)}


def test_a_line_for_each_module_and_no_other(package):
    assert [line.split()[0] for line in package()] == ["iunet.helper", "iunet.stage"]


def test_code_counts_wherever_it_is_and_the_module_is_named(package):
    first = package()
    assert changed(first, package(helper="x = 2\n")) == {"iunet.helper"}
    longer = "def run():\n    from iunet.helper import x\n    return x + 1\n"
    assert changed(first, package(helper="x = 1\n", stage=longer)) == {"iunet.stage"}


def test_comments_docstrings_and_strangers_do_not(package):
    first = package()
    assert package(helper='"""A new docstring,\n\nlong."""\n\n\nx = 1  # the first\n') == first
    assert package(other="y = 2\n") == first


def test_strings_that_look_like_comments_count(package):
    assert package(helper='x = "#1"\n') != package(helper='x = "#2"\n')


def test_plumbing_and_what_is_for_type_checking_do_not_count(package):
    stage = "from iunet.errors import UserError\nif TYPE_CHECKING:\n    import iunet.other\n"
    assert [line.split()[0] for line in package(stage=stage)] == ["iunet.stage"]


def test_stages_of_the_project_reach_the_modules_they_use():
    split = module.closure(["iunet.data.split"])
    assert "iunet.data.preprocess" in split and "iunet.artifacts" not in split
    assert "iunet.data.table" in module.closure(["iunet.data.sources.openml"])


def test_modules_that_are_gone_have_no_version(package):
    package()
    now = module.current_versions(["iunet.helper", "iunet.gone"])
    assert now == {"iunet.helper": module.version("iunet.helper")}
