"""Figures as files: the same data give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


SOME_FIGURES = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1] + "/tests/helpers", sys.argv[1] + "/tests/unit"]
import figure_inputs as inputs
import test_figures_own as own
from iunet.figures import densities, figure2
from iunet.figures.make import write_figure
from iunet.results.collect import runs_frame
folder = Path(sys.argv[2])
rows = {
    figure2: figure2.points(runs_frame(inputs.ratio_sweep())),
    densities: own.some_densities(),
}
for module, found in rows.items():
    name = module.__name__.rpartition(".")[2]
    output = {kind: f"{folder}/{name}.{kind}" for kind in ("pdf", "png", "csv")}
    write_figure(module.draw(found), found, output)
"""


def test_the_same_data_give_the_same_bytes(tmp_path):
    made = []
    for seed in ("1", "2"):  # of Python's hashes, by which sets are ordered
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", SOME_FIGURES, str(ROOT), str(folder)]
        subprocess.run(command, env=environment, check=True, timeout=300)
        files = (path for path in folder.iterdir() if path.is_file())
        made.append({path.name: path.read_bytes() for path in files})
    assert len(made[0]) == 2 * 3  # and no temporary file is left
    assert made[0] == made[1]
    assert not any(b"CreationDate" in content for content in made[0].values())
