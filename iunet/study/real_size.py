"""The network at its real size: which layers global pruning leaves of it, from masks alone.

`config/cpu-study-size.yaml` trains MLP_VIS with α = 8 for ten epochs and makes the table `laziness`
of its masks. It is published as `real_size.json`, beside what the initial weights let expect.
"""

from __future__ import annotations

import re
from pathlib import Path

from iunet.artifacts import read_json
from iunet.data.sizes import TYPICAL
from iunet.networks import mlp_vis
from iunet.networks.expected import expected_densities
from iunet.study.frames import markdown
from iunet.study.overlays import OVERLAY, SIZE_OVERLAY, read_config

TABLE = "tables/laziness"
NAME = "real_size"
LEAST = 0.001  # per cent


def real_size_table(folder: Path) -> str:
    """The density of the thinnest layer of every mask, by method and ratio."""
    config = read_config(OVERLAY, SIZE_OVERLAY)
    ratios = config["prune"]["vision"]["ratios"]
    layers = mlp_vis.layers(config["networks"]["mlp_vis"], TYPICAL["vision", False])
    lines = {}
    for init in ("torch_default", "he_normal"):
        densities = [expected_densities(layers, init, ratio) for ratio in ratios]
        shown = [_text(min(found), 1 + found.index(min(found))) for found in densities]
        lines[f"*expected of the initial weights, {init}*"] = shown
    for row in read_json(folder / f"{NAME}.json")["rows"]:
        lines.setdefault(row["labels"][-2], ["not run"] * len(ratios))
    for method, ratio, text in _measured(folder):
        lines[method][ratios.index(ratio)] = text
    header = [f"the thinnest layer, α = {config['networks']['mlp_vis']['alpha']}"]
    header += [f"r = {ratio}" for ratio in ratios]
    body = [[name, *cells] for name, cells in lines.items()]
    return markdown(header, body)


def _measured(folder: Path) -> list[tuple[str, int, str]]:
    """Method, ratio and text of every mask."""
    document = read_json(folder / f"{NAME}.json")
    found = []
    for row in document["rows"]:
        *_, method, cut = row["labels"]
        cell = document["cells"][row["key"]]["smallest"]
        if not cell["missing"]:
            value = cell["values"]["value"]
            (layer,) = re.findall(r"\((\d+)\)", value["text"])
            ratio = int(re.match(r"ratio(\d+)", cut)[1])
            found.append((method, ratio, _text(value["mean"], int(layer))))
    return found


def _text(density: float, layer: int) -> str:
    """A density in per cent, with the number of its layer; a layer at 0 is cut off."""
    if not density:
        return f"**cut off** ({layer})"
    percent = 100 * density
    return f"{percent:.2g} % ({layer})" if percent >= LEAST else f"< {LEAST} % ({layer})"
