"""Figures as files: the same data give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

from configs import ROOT

SOME_FIGURES = """
import figure_inputs as inputs
import test_figures_own as own
from iunet.figures import densities, figure2
from iunet.figures.make import write_figure
from iunet.results.collect import runs_frame
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
    """Here, and in a new process with other hashes, by which sets are ordered."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    exec(SOME_FIGURES, {"folder": here})
    paths = map(str, (ROOT, ROOT / "tests" / "helpers", ROOT / "tests" / "unit"))
    other = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    environment = os.environ | {"PYTHONHASHSEED": other, "PYTHONPATH": ":".join(paths)}
    program = f"folder = {str(there)!r}\n{SOME_FIGURES}"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=300)
    made = [{path.name: path.read_bytes() for path in f.iterdir()} for f in (here, there)]
    assert len(made[0]) == 2 * 3  # and no temporary file is left
    assert made[0] == made[1]
    assert not any(b"CreationDate" in content for content in made[0].values())
