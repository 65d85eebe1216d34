"""The archive of a study's reports: it comes back as it was, replaces nothing, leaves no folder."""

from __future__ import annotations

import lzma
import os
import tarfile

import pytest

from iunet.errors import UserError
from iunet.study.archive import pack, published_view, restore_published, unpack


def test_reports_come_back_as_they_were_and_replace_nothing(tmp_path):
    report = tmp_path / "results/runs/a/evaluation.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    os.utime(report, (1000, 1000))
    (report.parent / "weights.safetensors").write_bytes(b"large")
    archive = tmp_path / "reports.tar.xz"
    pack(tmp_path / "results", archive)
    first = archive.read_bytes()
    pack(tmp_path / "results", archive)
    assert archive.read_bytes() == first
    other = tmp_path / "elsewhere"
    assert unpack(archive, other) == 1
    again = other / "runs/a/evaluation.json"
    assert again.read_text() == "{}" and again.stat().st_mtime > 1000
    again.write_text("newer")
    assert unpack(archive, other) == 0 and again.read_text() == "newer"
    assert not (other / "runs/a/weights.safetensors").exists()


def test_reports_behind_a_published_result_are_put_back(tmp_path):
    """Supernet and mask were made again for a control, on a processor that rounds otherwise."""
    results, archive = tmp_path / "results", tmp_path / "reports.tar.xz"
    run = results / "runs/wine/mlp_tab/kappa1-sup/seed0"
    names = ("supernet.json", "ratio8/mask.json", "ratio8/evaluation.json")
    own = ("ratio4/mask.json", "ratio4/evaluation.json", "../../choice-omp.json")
    for name in (*names, *own):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(f"published {name}")
    pack(results, archive)
    assert restore_published(archive, results) == 0
    for name in (*names[:2], *own, "ratio8-random/mask.json"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("made again")
    view, number = published_view(archive, results)
    assert number == 2 and (
        view / "runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    ).read_text() == ("published supernet.json")
    assert (run / "supernet.json").read_text() == "made again"  # a study goes on from it
    assert restore_published(archive, results) == 2
    assert [(run / name).read_text() for name in names] == [f"published {name}" for name in names]
    # What was evaluated again stands on the reports that were made with it; a choice comes later.
    for name in (*own, "ratio8-random/mask.json"):
        assert (run / name).read_text() == "made again", name
    assert restore_published(archive, results) == 0
    (run / "ratio8/evaluation.json").write_text("evaluated again")
    (run / "supernet.json").write_text("made again")
    assert restore_published(archive, results) == 0


def test_a_clone_without_results_publishes_what_was_published(tmp_path):
    report = tmp_path / "results/runs/wine/evaluation.json"
    report.parent.mkdir(parents=True)
    report.write_text("{}")
    (report.parent / "histograms.safetensors").write_bytes(b"small")
    (report.parent / ".evaluation.json.tmp").mkdir()
    (report.parent / ".evaluation.json.tmp/evaluation.json").write_text("half")
    archive = tmp_path / "reports.tar.xz"
    pack(tmp_path / "results", archive)
    view, _ = published_view(archive, tmp_path / "elsewhere/results")
    files = [path.name for path in sorted(view.rglob("*")) if path.is_file()]
    assert files == ["evaluation.json", "histograms.safetensors"]
    again, _ = published_view(archive, tmp_path / "results")
    assert not list(again.rglob(".*")) and (again / "runs/wine/evaluation.json").samefile(report)


def test_nothing_is_unpacked_outside(tmp_path):
    archive = tmp_path / "reports.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo("../outside.json"))
    with pytest.raises(UserError, match=r"reports\.tar\.xz cannot be unpacked .*outside"):
        unpack(archive, tmp_path / "results")
    assert not (tmp_path / "outside.json").exists() and not (tmp_path / "results").exists()


def test_a_damaged_archive_is_refused_by_name(tmp_path):
    archive = tmp_path / "reports.tar.xz"
    archive.write_bytes(lzma.compress(b"no archive" * 100)[:-9])
    with pytest.raises(UserError, match=r"reports\.tar\.xz cannot be unpacked"):
        unpack(archive, tmp_path / "results")
