"""The network at its real size: which layers global pruning leaves of it, from masks alone.

`config/cpu-study-size.yaml` trains MLP_VIS with α = 8 for ten epochs and makes the table `laziness`
of its masks. It is published as `real_size.json`, beside what the initial weights let expect.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from iunet.data.sizes import TYPICAL
from iunet.labels import network_label
from iunet.networks.expected import encoder_layers, expected_densities
from iunet.study.answers import FIXED_RATIO
from iunet.study.overlays import OVERLAY, SIZE_OVERLAY, read_config
from iunet.tables.document import VALUE, Cell, TableDocument, read_document

TABLE = "tables/laziness"
NAME = "real_size"
NETWORK, DATASET = "mlp_vis", "CIFAR10"
LEAST = 0.001  # per cent
INITS = ("torch_default", "he_normal")
CUT_OFF = "**cut off**"
NOT_RUN = "The network at its real size was not run yet."


def copy_table(results: Path, folder: Path) -> None:
    """Publish the table if it was made here; else what was published before stays."""
    made = results / f"{TABLE}.json"
    if not made.exists():
        stays = "the published one stays" if (folder / f"{NAME}.json").exists() else "there is none"
        print(f"==> {made} was not made here: {stays}")
        return
    for form in (".csv", ".json"):
        shutil.copyfile(made.with_suffix(form), folder / f"{NAME}{form}")


def real_size_text(folder: Path) -> str:
    """The thinnest layer of every mask, by method and ratio."""
    path = folder / f"{NAME}.json"
    if not path.exists():
        return NOT_RUN
    config = read_config(OVERLAY, SIZE_OVERLAY)
    options = config["networks"][NETWORK]
    ratios = config["prune"]["vision"]["ratios"]
    document = read_document(path)
    epochs = config["train"]["supernet"]["epochs"]
    notes = "; ".join(dict.fromkeys(note for row in document.rows for note in row.notes))
    conditions = (
        f"Masks of {network_label(NETWORK)} with α = {options['alpha']} on {DATASET} after "
        f"{epochs} epochs, {_seeds(config)}{f' ({notes})' * bool(notes)}; nothing was fine-tuned. "
        "Density of the thinnest layer, with its number in brackets."
    )
    columns = [f"the thinnest layer, α = {options['alpha']}", *(f"r = {r}" for r in ratios)]
    lines = [conditions, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [_expected_line(init, options, ratios) for init in INITS]
    for method, cells in _by_method(document).items():
        shown = (_thinnest(cells.get(f"ratio{ratio}")) for ratio in ratios)
        lines.append(f"| {method} | {' | '.join(shown)} |")
    return "\n".join(lines)


def real_size_sentence(folder: Path) -> str | None:
    """How much of its thinnest layer each method keeps at the ratio of the other comparisons."""
    path = folder / f"{NAME}.json"
    if not path.exists():
        return None
    config = read_config(OVERLAY, SIZE_OVERLAY)
    kept = [
        f"{_thinnest(cells.get(f'ratio{FIXED_RATIO}')).partition(' (')[0]} with {method}"
        for method, cells in _by_method(read_document(path)).items()
    ]
    each = ", ".join(kept).replace(CUT_OFF, "nothing")
    return (
        f"**At the paper's size** (α = {config['networks'][NETWORK]['alpha']}; "
        f"{config['train']['supernet']['epochs']} epochs, {_seeds(config)}, masks alone) the layer "
        f"of {network_label(NETWORK)} that pruning hits hardest keeps at r = {FIXED_RATIO}: {each}."
    )


def _seeds(config: dict[str, Any]) -> str:
    n_seeds = len(config["seeds"])
    return "one seed" if n_seeds == 1 else f"{n_seeds} seeds"


def _expected_line(init: str, options: dict[str, Any], ratios: list[float]) -> str:
    layers = encoder_layers(NETWORK, options, TYPICAL["vision", False])
    shown = []
    for ratio in ratios:
        densities = expected_densities(layers, init, ratio)
        shown.append(_text(min(densities), 1 + densities.index(min(densities))))
    return f"| *expected of the initial weights, {init}* | {' | '.join(shown)} |"


def _by_method(document: TableDocument) -> dict[str, dict[str, dict[str, Cell]]]:
    """The cells of a row by the method's label and the ratio of its cut (`ratio8-relative`)."""
    found: dict[str, dict[str, dict[str, Cell]]] = {}
    for row in document.rows:
        *_, method, cut = row.labels
        found.setdefault(method, {})[cut.partition("-")[0]] = document.cells[row.key]
    return found


def _thinnest(cells: dict[str, Cell] | None) -> str:
    if cells is None or cells["smallest"].missing:
        return "not run"
    smallest = cells["smallest"].values[VALUE]
    (layer,) = re.findall(r"\((\d+)\)", smallest.text)
    return _text(smallest.mean, int(layer))


def _text(density: float, layer: int) -> str:
    """A density in per cent, with the number of its layer; a layer at 0 is cut off."""
    if not density:
        return f"{CUT_OFF} ({layer})"
    percent = 100 * density
    return f"{percent:.2g} % ({layer})" if percent >= LEAST else f"< {LEAST} % ({layer})"
