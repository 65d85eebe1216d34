"""torchvision's real loaders, downloading files in the official formats that are written here."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import pickle
import tarfile
import threading

import numpy as np
import pytest
import scipy.io

from iunet.artifacts import read_arrays
from iunet.data import download as stage
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings
from iunet.errors import UserError
from iunet.machine.torchvision_cpu import import_torchvision

datasets = import_torchvision().datasets
SETTINGS = SourceSettings(attempts=2, pause_s=0.01)


@pytest.fixture
def web(tmp_path):
    """A folder served over HTTP on loopback."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder_url = f"http://127.0.0.1:{server.server_port}"
    yield folder, folder_url
    server.shutdown()
    server.server_close()


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def images_and_labels(count: int, classes: int, seed: int):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)
    return images, rng.permutation(np.arange(count) % classes)


def write_cifar(monkeypatch, web, loader, classes: int):
    """The official archive of Python pickles, with the class's file names; md5s made to fit."""
    folder, url = web
    n_train_files = len(loader.train_list)
    label_key = "labels" if loader.__name__ == "CIFAR10" else "fine_labels"
    archive, expected, md5s = io.BytesIO(), {"train": [], "test": []}, {}
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:

        def add(name: str, content: bytes) -> None:
            entry = tarfile.TarInfo(f"{loader.base_folder}/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
            md5s[name] = md5(content)

        files = [*((n, "train") for n, _ in loader.train_list), (loader.test_list[0][0], "test")]
        for seed, (name, part) in enumerate(files):
            images, labels = images_and_labels(20, classes, seed)
            flat = images.transpose(0, 3, 1, 2).reshape(20, -1)  # channel by channel, row by row
            add(name, pickle.dumps({"data": flat, label_key: labels.tolist()}))
            expected[part].append((images, labels))
        names = [f"class{i}" for i in range(classes)]
        add(loader.meta["filename"], pickle.dumps({loader.meta["key"]: names}))
    (folder / loader.filename).write_bytes(archive.getvalue())
    monkeypatch.setattr(loader, "url", f"{url}/{loader.filename}")
    monkeypatch.setattr(loader, "tgz_md5", md5(archive.getvalue()))
    monkeypatch.setattr(loader, "train_list", [[n, md5s[n]] for n, _ in loader.train_list])
    monkeypatch.setattr(loader, "test_list", [[n, md5s[n]] for n, _ in loader.test_list])
    meta_md5 = md5s[loader.meta["filename"]]
    monkeypatch.setattr(loader, "meta", {**loader.meta, "md5": meta_md5})
    assert len(expected["train"]) == n_train_files
    return {
        part: tuple(np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        for part, batches in expected.items()
    }


def write_svhn(monkeypatch, web):
    """The official MATLAB files: images last, and the digit 0 stored as 10."""
    folder, url = web
    expected, split_list = {}, dict(datasets.SVHN.split_list)
    for seed, part in enumerate(("train", "test")):
        images, labels = images_and_labels(30, 10, seed)
        name = f"{part}_32x32.mat"
        stored = np.where(labels == 0, 10, labels).astype(np.uint8)[:, None]
        scipy.io.savemat(folder / name, {"X": images.transpose(1, 2, 3, 0), "y": stored})
        split_list[part] = [f"{url}/{name}", name, md5((folder / name).read_bytes())]
        expected[part] = images, labels
    monkeypatch.setattr(datasets.SVHN, "split_list", split_list)
    return expected


def download(tmp_path, name: str, torchvision_class: str, settings=SETTINGS):
    out = tmp_path / "out"
    dataset = Dataset(name, "vision", "torchvision", torchvision_class)
    stage.download(dataset, settings, out / "images.safetensors", out / "data.json")
    return read_arrays(out / "images.safetensors"), json.loads((out / "data.json").read_text())


def check(arrays, description, expected):
    for part, (images, labels) in expected.items():
        assert np.array_equal(arrays[f"x_{part}"], images)
        assert np.array_equal(arrays[f"y_{part}"], labels)
    assert description["n_train"] == len(expected["train"][0])
    assert sum(entry["count"] for entry in description["classes"]) == sum(
        len(labels) for _, labels in expected.values()
    )


@pytest.mark.parametrize(("name", "classes"), [("CIFAR10", 10), ("CIFAR100", 100)])
def test_cifar(monkeypatch, tmp_path, web, name, classes):
    expected = write_cifar(monkeypatch, web, getattr(datasets, name), classes)
    arrays, description = download(tmp_path, name.lower(), name)
    check(arrays, description, expected)
    assert description["classes"][1]["name"] == "class1"
    assert list(description["provenance"]["md5"]) == [getattr(datasets, name).filename]


def test_svhn(monkeypatch, tmp_path, web):
    expected = write_svhn(monkeypatch, web)
    arrays, description = download(tmp_path, "svhn", "SVHN")
    check(arrays, description, expected)
    assert [entry["name"] for entry in description["classes"]] == [str(d) for d in range(10)]
    assert len(description["provenance"]["md5"]) == 2


def test_wrong_checksum_is_refused_and_leaves_nothing(monkeypatch, tmp_path, web):
    write_cifar(monkeypatch, web, datasets.CIFAR10, 10)
    monkeypatch.setattr(datasets.CIFAR10, "tgz_md5", "0" * 32)
    with pytest.raises(UserError, match=r"'cifar10' .*torchvision's CIFAR10.*2 attempts"):
        download(tmp_path, "cifar10", "CIFAR10")
    assert list((tmp_path / "out").iterdir()) == []


def test_missing_file_on_the_server(monkeypatch, tmp_path, web):
    write_svhn(monkeypatch, web)
    (web[0] / "test_32x32.mat").unlink()
    with pytest.raises(UserError, match=r"'svhn'.*404"):
        download(tmp_path, "svhn", "SVHN")
    assert list((tmp_path / "out").iterdir()) == []


def test_full_disk_is_not_blamed_on_the_network(monkeypatch, tmp_path, web):
    import errno

    from iunet.data.sources import torchvision

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(torchvision, "_load", fail)
    with pytest.raises(UserError, match="No space left to write"):
        download(tmp_path, "svhn", "SVHN")


def test_unknown_class_is_refused(tmp_path):
    with pytest.raises(UserError, match="not known here, only CIFAR10, CIFAR100, SVHN"):
        download(tmp_path, "mnist", "MNIST")


def test_parts_used_by_the_workflow_work_on_this_build_of_torch():
    """The import alone is not enough: models and transforms must compute."""
    import torch
    from torchvision.transforms import v2

    network = import_torchvision().models.resnet18(num_classes=3)
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 3)
    assert v2.functional.horizontal_flip(torch.arange(3)[None, None, :]).flatten().tolist() == [
        2,
        1,
        0,
    ]
