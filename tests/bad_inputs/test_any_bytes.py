"""Any bytes as a file that is read: a result, or a `UserError`, and never another exception."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from iunet.artifacts import check_inputs, read_arrays, read_json
from iunet.baselines.study import open_study
from iunet.data.registry import Dataset, mirror_index, read_registry
from iunet.data.sizes import Data, data_size
from iunet.data.sources import SourceSettings, fetch
from iunet.data.table import clean_table
from iunet.errors import UserError
from iunet.method.masks import read_masks
from iunet.runs.overlays import read_overlay
from iunet.runs.schema import check_schema, plain
from iunet.training.support.checkpoint import Checkpoint

SOME = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(
    SIMPLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def allowed(function, *arguments: Any) -> Any:
    """The result; None in the place of an error that names its file."""
    try:
        return function(*arguments)
    except UserError as error:
        assert str(error)
        return None


# ---- overlays


KEYS = ["train", "seeds", "results", "methods", "datasets", "7", "<<", "&a", "*a", "!!set", "? x"]
YAML = st.lists(
    st.sampled_from([*KEYS, ": ", "\n", "  ", "[", "]", "{", "}", ",", "- ", ".nan", "1e999", "~"])
    | st.text(max_size=3),
    max_size=15,
).map("".join)


@SOME
@given(
    st.binary(max_size=60) | YAML.map(str.encode) | JSON.map(lambda x: yaml.safe_dump(x).encode())
)
def test_overlay(tmp_path, content):
    (tmp_path / "my.yaml").write_bytes(content)
    overlay = allowed(read_overlay, tmp_path / "my.yaml")
    if overlay is not None:
        assert isinstance(overlay, dict)
        allowed(check_schema, plain(overlay))


# ---- registries, mirrors, tables


CELL = st.sampled_from(["name", "kind", "source", "location", "target", "file", "sha256", "wine",
                        "tabular", "openml", "embedded", "{x}", '"', "'", "²", "0"])  # fmt: skip
CSV = st.lists(
    CELL
    | st.sampled_from([",", ",", "\n", "\r", "\0", "\x1c", "\u2028", ";"])
    | st.text(max_size=2),
    max_size=25,
).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass"))
REGISTRY = CSV.map(lambda rows: b"name,kind,source,location,target\n" + rows)


@SOME
@given(st.binary(max_size=60) | CSV | REGISTRY | st.just(b'a,"' + b"x" * 200_000))
def test_registry(tmp_path, content):
    (tmp_path / "own.csv").write_bytes(content)
    allowed(read_registry, [tmp_path / "own.csv"])


@SOME
@given(st.binary(max_size=60) | CSV.map(lambda rows: b"name,file,sha256\n" + rows))
def test_mirror_index(tmp_path, content):
    (tmp_path / "tabular").mkdir(exist_ok=True)
    (tmp_path / "tabular" / "index.csv").write_bytes(content)
    for row in (allowed(mirror_index, tmp_path) or {}).values():
        assert (tmp_path / "tabular").resolve() in Path(row["path"]).resolve().parents


VALUE = st.sampled_from(["", "x", "y", "1", "2.5", "-3", "1,5", "1e999", "NaN", "?", "true", "0x1",
                         "9" * 30, "9" * 5000, "2020-01-01", '"', " x", "1_000", "١"])  # fmt: skip
ROWS = st.lists(st.lists(VALUE, min_size=3, max_size=3).map(",".join), max_size=8)
TABLE = ROWS.map(lambda rows: "\n".join(["a,b,label", *rows]).encode())


@SOME
@given(st.binary(max_size=80) | TABLE | CSV, st.sampled_from(["csv", "tsv", "csv.gz", "parquet"]))
def test_own_table(tmp_path, content, ending):
    path = tmp_path / f"mine.{ending}"
    path.write_bytes(content)
    dataset = Dataset("mine", "tabular", "file", str(path), "label")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas guesses whether a text is a date
        raw = allowed(fetch, dataset, SourceSettings(), tmp_path / "scratch")
        clean = None if raw is None else allowed(clean_table, raw)
    if clean is not None:
        assert clean.table.column_names[-1] == "label" and len(clean.classes) > 1


# ---- artifacts


@SOME
@given(st.binary(max_size=60) | JSON.map(lambda x: json.dumps(x).encode()))
def test_json_report(tmp_path, content):
    path = tmp_path / "report.json"
    path.write_bytes(content)
    assert isinstance(allowed(read_json, path) or {}, dict)
    allowed(check_inputs, {str(path): {"id": "x", "rule": "prune"}})
    folder = tmp_path / "splits" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "split.json").write_bytes(content)
    data_size.cache_clear()
    assert isinstance(data_size(Dataset("mine", "tabular", "file", "x", "y"), str(tmp_path)), Data)


@SOME
@given(JSON)
def test_what_a_report_says_of_itself(tmp_path, made_by):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"made_by": made_by, "a": 1}))
    allowed(read_json, path)
    allowed(check_inputs, {str(path): {"id": "x", "rule": "prune"}})


LAYER = st.fixed_dictionaries(
    {"weight": st.sampled_from(["a", "b"]) | SIMPLE, "shape": st.lists(st.integers(-2, 9)) | JSON}
)
REPORT = JSON | st.fixed_dictionaries({"layers": st.lists(LAYER, max_size=3)})
PACKED = save({"a": np.packbits(np.ones(12, bool))})


@SOME
@given(st.binary(max_size=60) | st.just(PACKED), REPORT)
def test_mask(tmp_path, mask, report):
    (tmp_path / "mask.safetensors").write_bytes(mask)
    (tmp_path / "mask.json").write_text(json.dumps(report))
    masks = allowed(read_masks, tmp_path / "mask.safetensors", tmp_path / "mask.json")
    for array in (masks or {}).values():
        assert array.dtype == bool


@st.composite
def safetensors(draw) -> bytes:
    """A header of any JSON, with its length in front as the format has it, or a wrong one."""
    entry = st.fixed_dictionaries(
        {
            "dtype": st.sampled_from(["F32", "BF16", "U8", "F8_E4M3", "X"]),
            "shape": st.lists(st.integers(0, 4), max_size=2),
            "data_offsets": st.lists(st.integers(0, 16), max_size=3),
        }
    )
    metadata = st.fixed_dictionaries({"iunet": JSON.map(json.dumps) | st.text(max_size=5)})
    header = draw(
        st.dictionaries(st.text(max_size=3), entry | JSON, max_size=2)
        | st.fixed_dictionaries({"__metadata__": metadata, "a": entry})
    )
    text = json.dumps(header).encode()
    length = draw(st.sampled_from([len(text), len(text) + 1, 0, 2**63]))
    return length.to_bytes(8, "little") + text + draw(st.binary(max_size=16))


@SOME
@given(st.binary(max_size=60) | safetensors())
def test_arrays_and_checkpoint(tmp_path, content):
    path = tmp_path / "supernet.checkpoint"
    path.write_bytes(content)
    allowed(read_arrays, path)
    Checkpoint(path, {"id": "x"}).load(torch.device("cpu"))


ENTRY = st.fixed_dictionaries(
    {"op_code": st.integers(-1, 12), "worker_id": st.just("w"), "study_id": st.integers(0, 2)},
    optional={"study_name": st.just("s"), "directions": JSON, "trial_id": SIMPLE, "values": JSON,
              "state": st.integers(0, 5), "user_attr": JSON},
)  # fmt: skip


@settings(SOME, max_examples=30)
@given(
    st.binary(max_size=60)
    | st.lists(ENTRY | JSON, max_size=4).map(
        lambda lines: "".join(json.dumps(line) + "\n" for line in lines).encode()
    )
)
def test_journal(tmp_path, content):
    (tmp_path / "study.journal").write_bytes(content)
    allowed(open_study, tmp_path / "study.journal", "s")


def test_an_unexpected_error_would_be_seen(tmp_path):
    """`allowed` lets nothing pass but a `UserError`."""
    with pytest.raises(KeyError):
        allowed({}.__getitem__, "x")
