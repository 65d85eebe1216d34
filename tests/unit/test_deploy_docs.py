"""The examples of docs/deploy.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "deploy.md"


def test_examples(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for example in re.findall(r"```python\n(.*?)```", DOCS.read_text(), flags=re.DOTALL):
        exec(example, names)
    assert set(names["labels"]) <= {"large", "small"} and names["labels"][0] == "large"
    found = names["fast"].predict_proba(names["X"])
    np.testing.assert_allclose(found, names["model"].predict_proba(names["X"]), atol=1e-5)
    written = {path.name for path in Path("exported").iterdir()}
    assert written <= set(re.findall(r"`(\w+\.\w+)`", DOCS.read_text())) and len(written) == 4
