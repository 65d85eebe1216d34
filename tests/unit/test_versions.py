"""The fingerprint of a stage's code changes with the code, and with nothing else."""

from __future__ import annotations

import pytest

from iunet.runs import versions as module


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: stage imports helper, nobody imports other."""
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    files = {
        "stage.py": "def run():\n    from iunet.helper import x\n    return x\n",
        "helper.py": "x = 1\n",
        "other.py": "y = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def version(**changes: str) -> str:
        for name, text in changes.items():
            (tmp_path / f"{name}.py").write_text(text)
        module.science_version.cache_clear()
        module._imports.cache_clear()
        return module.science_version("iunet.stage")

    yield version
    module.science_version.cache_clear()
    module._imports.cache_clear()


def test_code_counts_wherever_it_is(package):
    first = package()
    assert package(helper="x = 2\n") != first
    assert package(helper="x = 1\n", stage="def run():\n    return 3\n") != first


def test_comments_docstrings_and_strangers_do_not(package):
    first = package()
    assert package(helper='"""A new docstring,\n\nlong."""\n\n\nx = 1  # the first\n') == first
    assert package(other="y = 2\n") == first


def test_strings_that_look_like_comments_count(package):
    assert package(helper='x = "#1"\n') != package(helper='x = "#2"\n')


def test_stages_of_the_project_reach_the_modules_they_use():
    assert "iunet.data.preprocess" in module._closure("iunet.data.split")
    assert "iunet.data.table" in module._closure("iunet.data.sources.openml")
    assert "iunet.artifacts" not in module._closure("iunet.data.split")
