"""All figures as files: the same data give the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from figure_inputs import (
    P_VALUES,
    RANKS,
    first_layers,
    ratio_sweep,
    three_histograms,
    three_studies,
)

ROOT = Path(__file__).resolve().parents[2]


ALL_FIGURES = """
import json, sys
from iunet.figures.critical_difference import write_critical_difference
from iunet.figures.figure2 import write_figure2
from iunet.figures.figure3 import write_figure3
from iunet.figures.figure4 import write_figure4
from iunet.figures.tuning_history import write_tuning_history
data = json.load(open(sys.argv[1]))
output = lambda name: {kind: f"{sys.argv[2]}/{name}.{kind}" for kind in ("pdf", "png", "csv")}
write_figure2(data["sweep"], output("figure2"))
write_figure3(data["histograms"], output("figure3"))
write_figure4(*data["layers"], output("figure4"))
write_tuning_history(data["studies"], output("tuning"))
write_critical_difference(*data["cd"], output("cd"), n_datasets=40, metric="accuracy")
"""


def test_the_same_data_give_the_same_bytes(tmp_path):
    data = {
        "sweep": ratio_sweep(tmp_path),
        "histograms": three_histograms(tmp_path),
        "layers": first_layers(tmp_path),
        "studies": three_studies(tmp_path),
        "cd": [RANKS, P_VALUES],
    }
    (tmp_path / "data.json").write_text(json.dumps(data))
    made = []
    for seed in ("1", "2"):  # of Python's hashes, by which sets are ordered
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", ALL_FIGURES, str(tmp_path / "data.json"), str(folder)]
        subprocess.run(command, env=environment, check=True, timeout=300)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(made[0]) == 5 * 3  # and no temporary file is left
    assert made[0] == made[1]
    assert not any(b"CreationDate" in content for content in made[0].values())
