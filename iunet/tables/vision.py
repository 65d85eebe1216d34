"""Tables 1 and 6: image data sets."""

from __future__ import annotations

import pandas as pd

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.cells import in_order, select, with_extras
from iunet.tables.document import Column, Row, TableDocument
from iunet.tables.names import base_network
from iunet.tables.scores import About, Line, paper_cells, paper_value, score_table

TABLE1_METHODS = ["dense", "omp", "beta_lasso", "iunet"]
TABLE6_COLUMNS = {  # the paper's columns: network and method
    "mlp_vis": ("mlp_vis", "dense", "MLP_VIS"),
    "iunet_mlp_vis": ("mlp_vis", "iunet", "IUNET (MLP_VIS)"),
    "cnn": ("cnn", "dense", "CNN"),
    "iunet_resnet18": ("resnet18", "iunet", "IUNET (RESNET)"),
}


def table1(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Test accuracy of the pruning methods, for every network and image set."""
    about = about or About()
    published = paper_cells(1, "network", "dataset", "method")
    rows = [
        Line(
            Row(
                f"{network}/{dataset}",
                [network_label(network), dataset_label(dataset)],
                about.of(dataset),
            ),
            {"network": network, "dataset": dataset},
        )
        for network in in_order(frame["network"])
        for dataset in in_order(select(frame, network=network)["dataset"])
    ]
    methods = with_extras(TABLE1_METHODS, in_order(frame["method"]))
    columns = [Line(Column(m, method_label(m), "accuracy"), {"method": m}) for m in methods]
    return score_table(
        frame,
        rows,
        columns,
        ["accuracy", "balanced_accuracy"],
        lambda k: paper_value(published.get((k["network"], k["dataset"], k["method"])), "accuracy"),
        about,
        "Test accuracy (%) of pruning methods on image data sets; Dense is the network itself.",
        id="table1",
        title="Table 1: pruning methods on image data sets",
        row_header=["Network", "Dataset"],
        default_metric="accuracy",
    )


def table6(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Test accuracy of MLPs, of the CNN inside of MLP_VIS, and of IUNET's ResNet."""
    about = about or About()
    frame = frame.assign(base=frame["network"].map(base_network))
    published = paper_cells(6, "dataset", "model")
    names = {(network, method): key for key, (network, method, _) in TABLE6_COLUMNS.items()}
    rows = [
        Line(Row(dataset, [dataset_label(dataset)], about.of(dataset)), {"dataset": dataset})
        for dataset in in_order(frame["dataset"])
    ]
    columns = [
        Line(Column(key, label, "accuracy"), {"base": network, "method": method})
        for key, (network, method, label) in TABLE6_COLUMNS.items()
    ]
    return score_table(
        frame,
        rows,
        columns,
        ["accuracy", "balanced_accuracy"],
        lambda k: paper_value(
            published.get((k["dataset"], names[k["base"], k["method"]])), "accuracy"
        ),
        about,
        "Test accuracy (%) of IUNET's pruned networks beside the CNN that MLP_VIS contains, which "
        "also shares its weights.",
        id="table6",
        title="Table 6: pruned MLP against CNN",
        row_header=["Dataset"],
        default_metric="accuracy",
    )
