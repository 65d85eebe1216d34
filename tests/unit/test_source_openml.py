"""The real openml client, over HTTP, against a server on loopback that speaks its protocol."""

from __future__ import annotations

import json
import socket
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from openml_server import API, ARFF, PARQUET, TASK_ID, Fault, OpenMLStandIn, serve
from urllib3.util import Retry

from iunet.data import download as stage
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings
from iunet.errors import UserError

DATASET = Dataset("mini", "tabular", "openml", str(TASK_ID), declared_at="registry, line 2")


@pytest.fixture
def server():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=40).round(3),
            "colour": pd.Categorical(rng.choice(["red", "green"], 40), ["red", "green", "blue"]),
            "grade": pd.Categorical(rng.choice(["1", "2", "10"], 40), ["1", "2", "10"]),
            "class": pd.Categorical(["yes", "no"] * 20, ["yes", "no"]),
        }
    )
    frame.loc[3, "height"] = np.nan
    frame.loc[5, "colour"] = np.nan
    with serve(OpenMLStandIn(frame, default_target="class")) as running:
        yield running


@pytest.fixture
def download(server, tmp_path):
    def run(**changes) -> tuple[pd.DataFrame, dict]:
        settings = SourceSettings(openml_server=f"{server.url}{API}", attempts=3, pause_s=0.01)
        paths = tmp_path / "mini" / "data.parquet", tmp_path / "mini" / "data.json"
        stage.download(DATASET, replace(settings, **changes), *paths)
        return pq.read_table(paths[0]).to_pandas(), json.loads(paths[1].read_text())

    run.folder = tmp_path / "mini"
    return run


def check_content(server, frame, description):
    assert list(frame.columns) == ["height", "colour", "grade", "class"]
    for name in frame.columns:
        ours, served = frame[name], server.frame[name]
        assert ours.isna().equals(served.isna())
        if name == "height":
            assert np.allclose(ours.dropna(), served.dropna())
        else:
            assert ours.dropna().astype(str).tolist() == served.dropna().astype(str).tolist()
    kinds = {column["name"]: column["kind"] for column in description["columns"]}
    assert kinds == {"height": "numeric", "colour": "categorical", "grade": "categorical"}
    assert description["classes"] == [{"name": "no", "count": 20}, {"name": "yes", "count": 20}]


@pytest.mark.parametrize("file_format", ["parquet", "arff"])
def test_download_keeps_values_and_kinds(server, download, file_format):
    frame, description = download(openml_format=file_format)
    check_content(server, frame, description)
    provenance = description["provenance"]
    assert provenance["format"] == file_format
    assert (provenance["task_id"], provenance["version"]) == (TASK_ID, "3")
    assert len(provenance["md5"]) == 32
    assert frame["grade"].cat.categories.tolist() == ["1", "2", "10"]  # in natural order
    assert any(PARQUET in request for request in server.requests) == (file_format == "parquet")


def test_server_without_parquet_serves_arff(server, download):
    server.parquet = False
    frame, description = download()
    check_content(server, frame, description)
    assert description["provenance"]["format"] == "arff"


def test_object_store_that_is_down_falls_back_to_arff(server, download, monkeypatch):
    monkeypatch.setattr(Retry, "get_backoff_time", lambda self: 0)  # MinIO's own pauses
    server.faults[PARQUET] = Fault("500")
    frame, description = download()
    check_content(server, frame, description)
    assert description["provenance"]["format"] == "arff"


def test_default_target_of_the_dataset_wins_over_the_tasks(server, download):
    server.task_target = "grade"
    _, description = download()
    assert description["target"] == "class"


def test_ignored_columns_are_left_out(server, download):
    server.ignore = "grade"
    frame, _ = download()
    assert "grade" not in frame.columns


def test_no_md5_given_is_recorded(server, download):
    server.md5 = None
    _, description = download(openml_format="arff")
    assert description["provenance"]["md5"] is None


@pytest.mark.parametrize(
    ("kind", "file_format", "path"),
    [
        ("500", "parquet", PARQUET),
        ("cut", "parquet", PARQUET),
        ("damaged", "parquet", PARQUET),
        ("cut", "arff", ARFF),
        ("damaged", "arff", ARFF),
    ],
)
def test_a_passing_fault_is_retried(server, download, kind, file_format, path):
    server.faults[path] = Fault(kind, times=1)
    frame, description = download(openml_format=file_format)
    check_content(server, frame, description)


@pytest.mark.parametrize(
    ("path", "kind"),
    [("task", "500"), ("task", "html"), ("data/7", "503"), ("data/features", "empty")],
)
def test_a_server_that_answers_nonsense_once_is_asked_again(server, download, path, kind):
    server.faults[f"{API}/{path}"] = Fault(kind, times=1)
    check_content(server, *download())


def test_a_checksum_that_cannot_be_had_is_asked_for_again(server, download):
    """Not skipped: a damaged file would pass."""
    server.faults[f"HEAD {PARQUET}"] = Fault("503", times=1)
    _, description = download(attempts=3)
    assert len(description["provenance"]["md5"]) == 32


def test_unknown_number_of_rows_is_no_error(server, download):
    server.announced_rows = "NaN"
    check_content(server, *download())


def assert_refused(download, *fragments, **settings):
    """One paragraph with all fragments, and nothing left on the disk."""
    with pytest.raises(UserError) as caught:
        download(**settings)
    message = str(caught.value)
    assert "\n" not in message
    for fragment in ("'mini'", *fragments):
        assert fragment in message
    assert list(download.folder.iterdir()) == []


@pytest.mark.parametrize("kind", ["500", "cut"])
def test_a_server_that_stays_broken_is_an_error(server, download, kind):
    server.faults[API] = Fault(kind)
    assert_refused(download, str(TASK_ID), "3 attempts")
    assert len(server.requests) == 3


def test_a_transfer_that_is_always_cut_is_an_error(server, download):
    server.faults[PARQUET] = Fault("cut")
    assert_refused(download, "3 attempts")


def test_wrong_md5_of_arff(server, download):
    server.md5 = "0" * 32
    assert_refused(download, "hecksum", "0" * 32, openml_format="arff")


def test_wrong_md5_of_parquet(server, download):
    server.faults[PARQUET] = Fault("damaged")
    assert_refused(download, "checksum")


def test_fewer_rows_than_announced(server, download):
    server.announced_rows = "41.0"
    assert_refused(download, "40 rows arrived of the 41 announced")


def test_unknown_task_is_not_retried(server, download, tmp_path):
    settings = SourceSettings(openml_server=f"{server.url}{API}", attempts=3, pause_s=0.01)
    unknown = replace(DATASET, location="1")
    with pytest.raises(UserError, match=r"registry, line 2.*refuses OpenML task 1 .*Unknown task"):
        stage.download(unknown, settings, tmp_path / "x" / "a.parquet", tmp_path / "x" / "a.json")
    assert len(server.requests) == 1


def test_network_that_is_down(download):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    assert_refused(
        download, "ConnectionError", "data.mirror", openml_server=f"http://127.0.0.1:{port}{API}"
    )


def test_server_that_never_answers(download):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}{API}"
        assert_refused(
            download, "no answer within 0.3 s", openml_server=address, timeout_s=0.3, attempts=2
        )
