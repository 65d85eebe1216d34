"""Sources that need no network: embedded, file and mirror."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from sklearn.datasets import load_digits, load_wine

from iunet.artifacts import read_arrays, read_description
from iunet.data.download import download
from iunet.data.registry import Dataset, read_registry
from iunet.data.sources import SourceSettings, effective_source
from iunet.data.sources.embedded import PHOTO_DIGITS, TABLES, photo_digits
from iunet.errors import UserError

OFFLINE = SourceSettings()


def get_table(tmp_path, dataset: Dataset, settings=OFFLINE):
    data, description = tmp_path / "out" / "data.parquet", tmp_path / "out" / "data.json"
    download(dataset, settings, data, description)
    return pd.read_parquet(data), json.loads(description.read_text())


def get_images(tmp_path, dataset: Dataset, settings=OFFLINE):
    data, description = tmp_path / "out" / "images.safetensors", tmp_path / "out" / "data.json"
    download(dataset, settings, data, description)
    return read_arrays(data), json.loads(description.read_text())


# ---- embedded


def test_embedded_table_is_scikit_learns(tmp_path):
    frame, description = get_table(tmp_path, Dataset("wine", "tabular", "embedded", "wine"))
    wine = load_wine()
    assert np.array_equal(frame.iloc[:, :-1].to_numpy(), wine.data)
    assert frame["target"].tolist() == [wine.target_names[label] for label in wine.target]
    assert description["n_rows"] == 178
    assert description["provenance"]["version"].startswith("scikit-learn ")


@pytest.mark.parametrize("name", TABLES)
def test_every_embedded_table_downloads(tmp_path, name):
    _, description = get_table(tmp_path, Dataset(name, "tabular", "embedded", name))
    assert description["n_missing"] == 0


def test_photo_digits_are_colour_images_of_digits(tmp_path):
    dataset = Dataset("photo_digits", "vision", "embedded", "photo_digits")
    arrays, description = get_images(tmp_path, dataset)
    images = np.concatenate([arrays["x_train"], arrays["x_test"]])
    labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    assert images.shape == (1797, 16, 16, 3)
    assert np.array_equal(labels, load_digits().target)
    assert (description["n_classes"], description["side"]) == (10, 16)
    spread = images.astype(int).max(axis=3) - images.astype(int).min(axis=3)
    assert (spread.mean(axis=(1, 2)) > 5).mean() > 0.9  # most have colour, for jitter to act on


def test_photo_digits_show_their_digit():
    """|crop − digit|: an untouched pixel is the photograph's, a full stroke its negative."""
    raw = photo_digits(list(range(10)), seed=0)
    again = photo_digits(list(range(10)), seed=0)
    other = photo_digits(list(range(10)), seed=5)
    assert np.array_equal(raw.x_train, again.x_train)
    assert not np.array_equal(raw.x_train, other.x_train)
    strokes = load_digits().images[: len(raw.x_train)].repeat(2, axis=1).repeat(2, axis=2)
    blank, full = (strokes == 0), (strokes == 16)
    # Over many crops the mean brightness is the photographs', and of full strokes its negative.
    a, b = raw.x_train.astype(float), other.x_train.astype(float)
    assert abs(a[blank].mean() - b[blank].mean()) < 5
    assert abs((255 - a[full]).mean() - a[blank].mean()) < 15


@pytest.mark.parametrize("name", ["photo_digits_low", "photo_digits_high"])
def test_derivatives_have_fewer_classes(tmp_path, name):
    _, description = get_images(tmp_path, Dataset(name, "vision", "embedded", name))
    digits = [str(digit) for digit in PHOTO_DIGITS[name][0]]
    assert [entry["name"] for entry in description["classes"]] == digits
    assert all(entry["count"] > 100 for entry in description["classes"])


def test_unknown_embedded_set(tmp_path):
    with pytest.raises(UserError, match="no embedded tabular set 'iris', only"):
        get_table(tmp_path, Dataset("iris", "tabular", "embedded", "iris"))


# ---- file


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "csv.xz", "csv.zip", "parquet"])
def test_own_file(tmp_path, ending):
    frame = pd.DataFrame(
        {"size": [1.5, None, 3.0, 4.0], "zip": [10, 20, 10, 20], "colour": ["r", "g", None, "r"]}
    ).assign(label=["no", "yes", "no", "yes"])
    path = tmp_path / f"mine.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    dataset = Dataset("mine", "tabular", "file", str(path), target="label", categorical=("zip",))
    ours, description = get_table(tmp_path, dataset)
    assert ours["size"].isna().tolist() == [False, True, False, False]
    assert ours["zip"].astype(str).tolist() == ["10", "20", "10", "20"]
    assert [c["kind"] for c in description["columns"]] == ["numeric", "categorical", "categorical"]
    assert description["provenance"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


# ---- a user's own images


def save_images(path, **changes) -> Dataset:
    rng = np.random.default_rng(0)
    arrays = {part: rng.integers(0, 256, (6, 8, 8, 3), np.uint8) for part in ("x_train", "x_test")}
    arrays |= {part: np.arange(6) % 3 for part in ("y_train", "y_test")}
    np.savez(path, **(arrays | {"class_names": ["a", "b", "c"]} | changes))
    return Dataset("mine", "vision", "file", str(path))


@pytest.mark.parametrize("shape", [(6, 8, 8), (6, 8, 8, 1)])
def test_grey_scale_images_become_three_equal_channels(tmp_path, shape):
    grey = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    arrays, description = get_images(
        tmp_path, save_images(tmp_path / "mine.npz", x_train=grey, x_test=grey)
    )
    assert arrays["x_train"].shape == (6, 8, 8, 3)
    for channel in range(3):
        np.testing.assert_array_equal(arrays["x_test"][..., channel], grey.reshape(6, 8, 8))
    assert description["provenance"]["grey_scale"] and description["channels"] == 3
    _, description = get_images(tmp_path, save_images(tmp_path / "mine.npz"))
    assert "grey_scale" not in description["provenance"]


def test_names_of_classes_may_be_bytes(tmp_path):
    names = np.array(["a", "b", "ç"]).astype(object)
    names = np.array([name.encode() for name in names])
    _, description = get_images(tmp_path, save_images(tmp_path / "mine.npz", class_names=names))
    assert [entry["name"] for entry in description["classes"]] == ["a", "b", "ç"]


IMAGES = {
    "two channels": (
        {"x_train": np.zeros((6, 8, 8, 2), np.uint8)},
        "with 3 channels, or 1 if grey",
    ),
    "four channels": (
        {"x_test": np.zeros((6, 8, 8, 4), np.uint8)},
        "with 3 channels, or 1 if grey",
    ),
    "grey beside colour": ({"x_test": np.zeros((6, 8, 8, 1), np.uint8)}, r"found uint8 of shape"),
    "names of no dimension": (
        {"class_names": "cat"},
        r"class_names in .*mine\.npz are <U3 of shape",
    ),
    "names of two": ({"class_names": [["a"], ["b"], ["c"]]}, "not a list of different texts"),
    "names twice": ({"class_names": ["a", "b", "a"]}, "not a list of different texts"),
    "names of no text": ({"class_names": [0.5, 1.5, 2.5]}, "not a list of different texts"),
    "names of half a character": ({"class_names": ["a", "b\ud800", "c"]}, "b.ud800"),
    "no images": ({"x_test": np.zeros((0, 8, 8, 3), np.uint8)}, "test images: there are none"),
    "labels beyond all": ({"y_train": np.full(6, 2**63, np.uint64)}, f"from {2**63} to {2**63}"),
    "names in Latin-1": ({"class_names": [b"a", b"b", b"\xe9"]}, "cannot be read as an image set"),
}


@pytest.mark.parametrize("case", IMAGES)
def test_images_that_are_none_are_refused_by_name(tmp_path, case):
    changes, said = IMAGES[case]
    with pytest.raises(UserError, match=said):
        get_images(tmp_path, save_images(tmp_path / "mine.npz", **changes))


def test_a_single_array_and_a_header_of_a_trillion_images_are_refused(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "mine.npz").write_bytes((tmp_path / "one.npy").read_bytes())
    mine = Dataset("mine", "vision", "file", str(tmp_path / "mine.npz"))
    with pytest.raises(UserError, match=r"mine\.npz cannot be read as an image set \(it is no"):
        get_images(tmp_path, mine)
    with zipfile.ZipFile(tmp_path / "mine.npz", "w") as archive:
        for name in ("x_train", "y_train", "x_test", "y_test", "class_names"):
            archive.writestr(name, "text")
    with pytest.raises(UserError, match=r"\(it holds other files than arrays"):
        get_images(tmp_path, mine)
    save_images(tmp_path / "mine.npz", x_train=np.zeros((6, 8, 8, 3), np.uint8))
    with zipfile.ZipFile(tmp_path / "mine.npz", "a") as archive:
        header = io.BytesIO()
        about = {"descr": "|u1", "fortran_order": False, "shape": (10**12, 32, 32, 3)}
        np.lib.format.write_array_header_1_0(header, about)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the name stands in it twice; the last one counts
            archive.writestr("x_train.npy", header.getvalue())
    with pytest.raises(UserError, match=r"mine\.npz cannot be read as an image set"):
        get_images(tmp_path, mine)


# ---- mirror


@pytest.fixture
def small_mirror(tmp_path):
    """A mirror with one table and one image set, in the documented layout."""
    root = tmp_path / "mirror"
    (root / "tabular").mkdir(parents=True)
    (root / "vision").mkdir()
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "target": pd.Categorical(["a", "b", "a", "b"])})
    frame.to_parquet(root / "tabular" / "vehicle.parquet")
    rng = np.random.default_rng(0)
    images = {
        "x_train": rng.integers(0, 256, (20, 32, 32, 3), dtype=np.uint8),
        "y_train": (np.arange(20) % 10).astype(np.uint8),
        "x_test": rng.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8),
        "y_test": np.arange(10).astype(np.uint8),
        "class_names": np.array([f"c{i}" for i in range(10)]),
    }
    np.savez(root / "vision" / "cifar10.npz", **images)

    def write_index(kind, header, row):
        path = root / kind / row.split(",")[1]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        (root / kind / "index.csv").write_text(f"{header}\n{row.format(sha256=digest)}\n")

    write_index(
        "tabular",
        "name,file,sha256,n_rows,n_columns_with_target,source,note",
        "vehicle,vehicle.parquet,{sha256},4,2,somewhere,as is",
    )
    write_index("vision", "name,file,sha256,source", "cifar10,cifar10.npz,{sha256},elsewhere")
    return root


VEHICLE = Dataset("vehicle", "tabular", "openml", "233094")
CIFAR10 = Dataset("cifar10", "vision", "torchvision", "CIFAR10")


def test_mirror_table(tmp_path, small_mirror):
    frame, description = get_table(tmp_path, VEHICLE, replace(OFFLINE, mirror=str(small_mirror)))
    assert frame["x"].tolist() == [1, 2, 3, 4]
    provenance = description["provenance"]
    assert (provenance["source"], provenance["origin"]) == ("mirror", "somewhere")
    assert provenance["instead_of"] == {"source": "openml", "location": "233094"}


def test_mirror_images_are_recorded_as_a_subset(tmp_path, small_mirror):
    arrays, description = get_images(tmp_path, CIFAR10, replace(OFFLINE, mirror=str(small_mirror)))
    assert arrays["x_train"].shape == (20, 32, 32, 3)
    assert arrays["y_train"].dtype == np.int64
    assert description["provenance"]["subset"] == {
        "n_train": 20,
        "n_test": 10,
        "official_n_train": 50_000,
        "official_n_test": 10_000,
    }


def test_mirror_stands_in_for_the_network_only(small_mirror):
    assert effective_source(VEHICLE, str(small_mirror)) == "mirror"
    assert effective_source(VEHICLE, None) == "openml"
    wine = Dataset("wine", "tabular", "embedded", "wine")
    assert effective_source(wine, str(small_mirror)) == "embedded"


def test_mirror_checksum(tmp_path, small_mirror):
    path = small_mirror / "tabular" / "vehicle.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match=r"'vehicle' .*vehicle.parquet has the wrong checksum"):
        get_table(tmp_path, VEHICLE, replace(OFFLINE, mirror=str(small_mirror)))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_link_in_the_mirror_counts_by_its_content(tmp_path, small_mirror):
    """Also one that leads outside: what it leads to has the index's checksum, or is refused."""
    inside, outside = small_mirror / "tabular" / "vehicle.parquet", tmp_path / "elsewhere"
    inside.rename(outside)
    inside.symlink_to(outside)
    settings = replace(OFFLINE, mirror=str(small_mirror))
    assert get_table(tmp_path, VEHICLE, settings)[0]["x"].tolist() == [1, 2, 3, 4]
    outside.write_text("secret")
    with pytest.raises(UserError, match="wrong checksum"):
        get_table(tmp_path, VEHICLE, settings)


def test_mirror_file_absent(tmp_path, small_mirror):
    (small_mirror / "vision" / "cifar10.npz").unlink()
    with pytest.raises(UserError, match="which does not exist"):
        get_images(tmp_path, CIFAR10, replace(OFFLINE, mirror=str(small_mirror)))


def test_mirror_table_that_is_a_subset_is_recorded(tmp_path, small_mirror):
    _, description = get_table(tmp_path, VEHICLE, replace(OFFLINE, mirror=str(small_mirror)))
    assert description["provenance"]["subset"] == {"n_rows": 4, "official_n_rows": 846}


def test_mirror_index_with_a_byte_order_mark_and_capitals(tmp_path, small_mirror):
    index = small_mirror / "tabular" / "index.csv"
    header, row = index.read_text().splitlines()
    digest = row.split(",")[2]
    index.write_text(f"\ufeff{header}\n{row.replace(digest, digest.upper())}\n", encoding="utf-8")
    get_table(tmp_path, VEHICLE, replace(OFFLINE, mirror=str(small_mirror)))


@pytest.mark.parametrize("labels", [np.full((20, 1), 1), np.linspace(0, 1, 20)])
def test_mirror_labels_that_are_none(tmp_path, small_mirror, labels):
    path = small_mirror / "vision" / "cifar10.npz"
    arrays = dict(np.load(path)) | {"y_train": labels}
    np.savez(path, **arrays)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    index = small_mirror / "vision" / "index.csv"
    index.write_text(f"name,file,sha256\ncifar10,cifar10.npz,{digest}\n")
    with pytest.raises(UserError, match="not a list of integers"):
        get_images(tmp_path, CIFAR10, replace(OFFLINE, mirror=str(small_mirror)))


def test_scratch_of_a_killed_job_is_removed(tmp_path):
    leftover = tmp_path / "out" / ".download-killed"
    leftover.mkdir(parents=True)
    get_table(tmp_path, Dataset("wine", "tabular", "embedded", "wine"))
    assert not leftover.exists()


def test_set_that_the_mirror_lacks(tmp_path, small_mirror):
    adult = Dataset("adult", "tabular", "openml", "233099")
    with pytest.raises(UserError, match=r"'adult' .*the mirror .* does not have it, only: vehicle"):
        get_table(tmp_path, adult, replace(OFFLINE, mirror=str(small_mirror)))


# ---- the artifact


def test_data_that_do_not_fit_their_description_are_refused(tmp_path):
    get_table(tmp_path, Dataset("wine", "tabular", "embedded", "wine"))
    data, description = tmp_path / "out" / "data.parquet", tmp_path / "out" / "data.json"
    assert read_description(description, data)["n_rows"] == 178
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(UserError, match=r"data.parquet is not the file that .*data.json describes"):
        read_description(description, data)


def test_registry_of_the_project_holds_the_paper():
    from iunet.paper import paper_table

    registry = read_registry([ROOT / "config" / "datasets.csv"])
    for row in paper_table(9):
        dataset = registry[row["dataset"]]
        assert (dataset.source, dataset.location) == ("openml", row["openml_task_id"])
    assert {row["dataset"] for row in paper_table(8)} <= set(registry)
    assert sum(dataset.source in ("openml", "torchvision") for dataset in registry.values()) == 43
