"""Controls: what of IUNET's parts makes the difference, with the scores of table 4."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.runs.names import base_network
from iunet.tables.document import TableDocument
from iunet.tables.scores import primary_table

TITLE = "Controls"
CAPTION = (
    "IUNET and controls that share all but one of its properties. Methods with IUNET's ratios use "
    "the one that was chosen for IUNET. Images: test accuracy (%), tables: balanced "
    "accuracy (%)."
)
NOTE = (
    "Mask: shuffled keeps IUNET's number of weights in every layer, random only the number of all; "
    "other seed is the mask of the next seed's supernet, initial that of |θ†| alone. Fresh "
    "starts fine-tuning from new initial weights, trained from those of the supernet. lr × 16 is "
    "the step that κ = 0.25 amounts to under BatchNorm. Relative ranks weights by |θ| over the "
    "spread of their layer's initial weights, layer-wise keeps the same part of every layer. The "
    "small dense network has as many parameters as a subnetwork with the ratio `shrink`, whatever "
    "ratio is chosen."
)


def build(results: Results) -> TableDocument:
    """A control on a variant of the network (fewer units) is in the row of the network itself."""
    runs = of_results(results.runs, choice_of="iunet")
    runs = runs.assign(network=runs["network"].map(base_network))
    return primary_table(runs, CAPTION, [NOTE])
