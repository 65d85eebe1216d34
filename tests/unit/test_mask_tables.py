"""Tables and the figure of masks, expected densities, controls, and β-LASSO's density."""

from __future__ import annotations

import numpy as np
import pytest

from iunet.artifacts import read_json, write_json
from iunet.errors import UserError
from iunet.evaluation.locality import first_layer
from iunet.method.masks import mask_report
from iunet.tables.controls import controls
from iunet.tables.document import VALUE
from iunet.tables.expected_densities import expected_table
from iunet.tables.frame import make_frame
from iunet.tables.laziness import laziness
from iunet.tables.locality import CONVOLUTION, locality_table, read_localities
from iunet.tables.masks import read_mask_reports
from iunet.tables.table1 import table1

METRICS = ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy")


def request(folder, masks=None, method="omp", seed=0, network="mlp_tab", **changes):
    """A request for a mask at ratio 8 that is written to a folder; without one it is missing."""
    content = {"dataset": "vehicle", "network": network, "method": method, "seed": seed}
    content |= {"stage": "subnetwork", "masks": {}, "inits": {"kappa1-sup": "torch_default"}}
    content |= {"choice": None, "own_choice": False, "cut": "ratio8", "missing": None}
    if masks is None:
        return content | {"missing": "not finished"} | changes
    place = folder / f"{method}-{seed}"
    place.mkdir()
    initial = {name: np.ones_like(mask) for name, mask in masks.items()}
    head = {"dataset": "vehicle", "seed": seed, "ratio": 8, "failed": None}
    write_json(place / "mask.json", head | mask_report(masks, initial, 10))
    return content | {"masks": {"kappa1-sup/ratio8": str(place / "mask.json")}} | changes


def layers(*densities, shape=(8, 8)):
    """Masks whose first rows are kept."""
    masks = {}
    for i, density in enumerate(densities):
        mask = np.zeros(shape, dtype=bool)
        mask.reshape(-1)[: round(density * mask.size)] = True
        masks[f"encoder.{i}.weight"] = mask
    return masks


# ---- laziness and densities


def test_laziness_has_the_densities_of_layers(tmp_path):
    asked = [
        request(tmp_path, layers(0.5, 0.0, 1.0), seed=0),
        request(tmp_path, layers(0.25, 0.125, 1.0), seed=1),
        request(tmp_path, None, seed=2),
        request(tmp_path, None, method="iunet", seed=0),
    ]
    table = laziness(read_mask_reports(asked))
    key = "vehicle/mlp_tab/omp/ratio8"
    value = {column.key: table.cell(key, column.key).values[VALUE] for column in table.columns}
    assert (value["first"].mean, value["second"].mean, value["last"].mean) == (0.375, 0.0625, 1.0)
    assert value["overlap"].mean == 1 and value["overlap"].n == 2
    assert value["smallest"].text == "0.062 (2)" and value["disconnected"].text == "1 of 2"
    assert value["dead_units"].mean == pytest.approx(100 * (12 / 24 + 13 / 24) / 2)
    assert table.cell(key, "overlap").notes == ["not finished (1 of 3 seeds)"]
    assert table.cell("vehicle/mlp_tab/iunet/ratio8", "overlap").missing == "not finished"


def test_the_mask_of_another_run_is_refused(tmp_path):
    asked = request(tmp_path, layers(0.5))
    with pytest.raises(UserError, match="is the mask of seed 0, but 1 was asked for"):
        read_mask_reports([asked | {"seed": 1}])
    with pytest.raises(UserError, match="the same run twice"):
        read_mask_reports([asked, dict(asked)])


# ---- locality


def evaluated(folder, measured, method="omp", network="mlp_tab", **report):
    """A request for an evaluation whose report says `measured` of the first layer's mask."""
    head = {"dataset": "vehicle", "seed": 0, "stage": "subnetwork", "network": {"name": network}}
    path = folder / f"{method}.json"
    write_json(path, head | {"failed": None, "first_layer_mask": measured} | report)
    return {
        "dataset": "vehicle",
        "network": network,
        "method": method,
        "seed": 0,
        "stage": "subnetwork",
        "evaluations": {"kappa1-sup/ratio8": str(path)},
        "cut": "ratio8",
        "missing": None,
    }


def test_locality_of_pixels_and_features(tmp_path):
    near = np.zeros((2, 16), dtype=bool)
    near[:, [0, 1]] = True  # side by side: a distance of 1
    of_image = first_layer(near, None, (1, 4, 4))
    of_table = first_layer(near, [list(range(15)), [15]], None)
    image = evaluated(tmp_path, of_image, network="mlp_vis")
    pixels, features = read_localities([image, evaluated(tmp_path, of_table, method="iunet")])
    assert pixels["value"] == 1 and pixels["ratio"] < 0.5
    assert features["value"] == 1 and features["wide_features"] == 1
    document = locality_table([pixels, features])
    assert (
        document.cell("vehicle/mlp_vis/omp/ratio8", "measure").values[VALUE].text.startswith("dist")
    )
    assert document.cell("vehicle/mlp_tab/iunet/ratio8", "value").values[VALUE].mean == 1
    assert document.cell("vehicle/mlp_tab/iunet/ratio8", "left_out").values[VALUE].mean == 0


def test_a_mask_that_is_cut_off_is_marked(tmp_path):
    measured = first_layer(np.eye(2, 16, dtype=bool), None, (1, 4, 4))
    asked = evaluated(tmp_path, measured, network="mlp_vis", disconnected=True)
    document = locality_table(read_localities([asked]))
    cell = document.cell("vehicle/mlp_vis/omp/ratio8", "value")
    assert cell.notes == ["disconnected (1 of 1 seeds)"]


def test_a_convolution_has_no_locality(tmp_path):
    measured = first_layer(np.ones((2, 3, 3, 3), dtype=bool), None, (3, 4, 4))
    asked = evaluated(tmp_path, measured, network="cnn")
    document = locality_table(read_localities([asked]))
    assert document.cell("vehicle/cnn/omp/ratio8", "ratio").missing == CONVOLUTION


def test_what_failed_has_no_locality(tmp_path):
    document = locality_table(read_localities([evaluated(tmp_path, None, failed="all died")]))
    assert document.cell("vehicle/mlp_tab/omp/ratio8", "ratio").missing == "all died"


def test_a_report_that_does_not_measure_is_refused(tmp_path):
    asked = evaluated(tmp_path, None)
    path = tmp_path / "omp.json"
    content = read_json(path)
    del content["first_layer_mask"]
    write_json(path, content)
    with pytest.raises(UserError, match=r"omp\.json does not measure the first layer's mask"):
        read_localities([asked])


# ---- expected densities


def test_data_sets_of_one_shape_share_a_row():
    size = {"n_train": 1, "n_valid": 1, "n_test": 1, "n_inputs": 3072, "n_classes": 10, "side": 32}
    case = {"network": "mlp_vis", "options": {"alpha": 8}, "ratios": [8], "split": None}
    cases = [case | {"dataset": name, "size": size} for name in ("cifar10", "svhn")]
    resnet = {"dataset": "cifar10", "network": "resnet18", "options": {"width": 1.0}, "size": size}
    table = expected_table([*cases, resnet | {"ratios": [2], "split": None}], "torch_default")
    key = "mlp_vis/3072/32/ratio8"
    assert [row.labels for row in table.rows] == [
        ["MLP_VIS", "CIFAR10, SVHN", "8"],
        ["RESNET", "CIFAR10", "2"],
    ]
    assert table.cell(key, "second").values[VALUE].mean == 0
    assert table.cell(key, "smallest_torch_default").values[VALUE].text == "0.0000 (2)"
    assert table.cell(key, "smallest_he_normal").values[VALUE].mean > 0.02
    assert table.cell("resnet18/3072/32/ratio2", "smallest_glorot").values[VALUE].text == "its own"


# ---- scores


def run(method, score, network="mlp_vis", **facts):
    metrics = {f"{part}_{m}": score for part in ("valid", "test") for m in METRICS}
    row = {"dataset": "cifar10", "network": network, "method": method, "seed": 0}
    return row | metrics | facts


def test_beta_lasso_says_how_much_it_keeps():
    lasso = {"cut": "survivors", "encoder_weights": 1000, "kept_encoder_weights": 123}
    table = table1(make_frame([run("beta_lasso", 60.0, **lasso), run("omp", 61.0, cut="ratio8")]))
    keeps = "keeps 12 % of the encoder's weights"
    assert table.cell("mlp_vis/cifar10", "beta_lasso").notes == [keeps]
    assert table.cell("mlp_vis/cifar10", "omp").notes == []


def test_controls_stand_in_their_order_and_in_the_row_of_their_network():
    small = run("dense_small", 50.0, network="mlp_vis-alpha2")
    frame = make_frame([small, run("omp_lr16", 61.0), run("iunet", 64.0), run("omp", 60.0)])
    table = controls(frame)
    assert [c.key for c in table.columns] == ["omp", "iunet", "omp_lr16", "dense_small"]
    assert [row.key for row in table.rows] == ["mlp_vis/cifar10"]
    assert table.cell("mlp_vis/cifar10", "dense_small").values["primary"].mean == 50
    assert table.cell("mlp_vis/cifar10", "iunet").values["primary"].best
