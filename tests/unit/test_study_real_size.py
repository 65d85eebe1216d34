"""The study's part on the network at its real size, and the order of the parts."""

from __future__ import annotations

import pytest
from run_frames import layers_of, results_of, run

from iunet.errors import UserError
from iunet.study.__main__ import main, parts_of
from iunet.study.overlays import read_config
from iunet.study.real_size import real_size_table
from iunet.tables.context import Context
from iunet.tables.document import write_document
from iunet.tables.laziness import build


def laziness_of(densities: dict[str, list[float]]):
    """The table of masks of one seed, by their cuts."""
    rows = []
    for cut, parts in densities.items():
        facts = {"supernet": "kappa1-sup", "cut": cut, "mask_overlap": 0.9} | layers_of(10, *parts)
        rows.append(run("cifar10", "mlp_vis", "omp", **facts, disconnected=0 in parts))
    return build(results_of(*rows), Context())


def test_the_thinnest_layer_stands_beside_what_the_initial_weights_let_expect(tmp_path):
    densities = {"ratio4": [0.5, 0.0123, 0.9], "ratio8-relative": [0.01, 0.0, 0.9]}
    found = laziness_of(densities | {"ratio32": [1e-6, 0.5, 1]})
    write_document(tmp_path / "real_size.json", found)
    head, _, torch_default, he_normal, omp = real_size_table(tmp_path).splitlines()
    assert "| r = 2 | r = 4 | r = 8 | r = 16 | r = 32 |" in head
    # The prediction: the bound of the second layer's weights lies below the threshold from 8 on.
    assert torch_default.count("**cut off** (2)") == 3 and "2.2 % (2)" in torch_default
    assert "cut off" not in he_normal and "3.1 % (2)" in he_normal
    assert omp == "| OMP | not run | 1.2 % (2) | **cut off** (2) | not run | < 0.001 % (1) |"


def test_the_parts_of_the_study_are_in_the_order_of_their_weight(capsys, monkeypatch):
    parts = parts_of(read_config())
    assert parts[0] == "six_tables"
    assert parts[-5:] == ["real_size", "more_images", "resnet", "figure3", "figure4"]
    monkeypatch.setattr("sys.argv", ["study", "run", "real_sizes"])
    with pytest.raises(UserError, match=r"no part 'real_sizes'.*transforms, real_size,"):
        main()
    assert capsys.readouterr().out == ""  # refused before anything is unpacked
