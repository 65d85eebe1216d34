"""Every key of the config is described, and config/README.md shows them all as they are."""

from __future__ import annotations

import pytest
import yaml
from conftest import ROOT

from iunet.page.docs import config_readme, keys_of
from iunet.runs.schema import read_schema


@pytest.fixture(scope="module")
def schema() -> dict:
    return read_schema()


@pytest.fixture(scope="module")
def paper() -> dict:
    return yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def test_every_key_has_a_description(schema):
    keys = dict(keys_of(schema, schema))
    for name, entry in schema["$defs"].items():
        keys |= dict(keys_of(entry, schema, (f"$defs/{name}",)))
    lacking = [".".join(path) for path, key in keys.items() if not key.get("description")]
    assert len(keys) > 100 and lacking == []


def test_the_document_is_current(schema, paper):
    assert (ROOT / "config" / "README.md").read_text() == config_readme(schema, paper)
