"""Figures as files: the same data give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

from configs import ROOT

A_FIGURE = """
from figure_inputs import ratio_sweep
from iunet.figures import figure2
from iunet.figures.make import write_figure
from iunet.results.collect import runs_frame
rows = figure2.points(runs_frame(ratio_sweep()))
output = {kind: f"{folder}/figure2.{kind}" for kind in ("pdf", "png", "csv")}
write_figure(figure2.draw(rows), rows, output)
"""


def test_the_same_data_give_the_same_bytes(tmp_path):
    """Here, and in a new process with other hashes, by which sets are ordered."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    exec(A_FIGURE, {"folder": here})
    other = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    places = {"PYTHONHASHSEED": other, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'helpers'}"}
    program = f"folder = {str(there)!r}\n{A_FIGURE}"
    subprocess.run([sys.executable, "-c", program], env=os.environ | places, check=True)
    made = [{path.name: path.read_bytes() for path in f.iterdir()} for f in (here, there)]
    assert len(made[0]) == 3  # and no temporary file is left
    assert made[0] == made[1]
    assert not any(b"CreationDate" in content for content in made[0].values())
