"""A page for tests: all tables in their real shapes, with gaps, from made-up runs.

Our values are the paper's plus noise from a fixed seed; nothing here is a result.
"""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from pathlib import Path
from typing import Any

import yaml

from iunet.page.build import Figure, Page
from iunet.page.decisions import read_decisions
from iunet.paper import paper_table
from iunet.tables.document import PaperValue, Value, agreement

ROOT = Path(__file__).resolve().parents[2]
METRICS = ["accuracy", "balanced_accuracy", "swapped_balanced_accuracy"]
TABULAR = {
    "dense": "MLP_TAB",
    "omp": "OMP",
    "beta_lasso": "β-LASSO",
    "iunet": "IUNET",
    "xgb": "XGB",
    "tabnet": "TabNet",
    "mlp_c": "MLP_TAB+C",
}
TUNED = ("xgb", "tabnet", "mlp_c")
ABSENT = {"nomao": "not in the mirror", "dionis": "not in the mirror"}
ABLATION = {
    "dense": "Dense",
    "iunet_no_prune": "No-Prune",
    "iunet_no_ilo": "No-ILO",
    "iunet_no_pis": "No-PIS",
    "iunet": "IUNET",
}


def page_data(page: str) -> dict[str, Any]:
    """The documents that a page has inside, as its script unpacks them."""
    (data,) = re.findall(r'<script type="application/zlib\+base64" id="data">(.*?)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(data, validate=True)))


def complete(table: dict[str, Any]) -> dict[str, Any]:
    """The table with every key that a document of the workflow has."""
    cell = {"values": {}, "paper": None, "difference": None, "agrees": None, "missing": None}
    for row in table["rows"]:
        row.setdefault("notes", [])
        cells = table["cells"].setdefault(row["key"], {})
        for column in table["columns"]:
            column |= {"paper_metric": None, "repeats": False} | column
            found = cells.setdefault(column["key"], {"missing": "not finished"})
            cells[column["key"]] = cell | {"notes": []} | found
            if paper := found.get("paper"):
                paper.setdefault("std", None)
    return table


def document(name: str, title: str, **content: Any) -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "caption": "Mean ± standard deviation over 3 seeds, test split.",
        "row_header": ["Dataset"],
        "rows": [],
        "columns": [],
        "metrics": ["accuracy"],
        "default_metric": "accuracy",
        "cells": {},
        "decimals": 3,
        "notes": [],
        "lower_is_better": [],
        "metric_labels": {},
    } | content


def measured(
    noise: random.Random, paper: float, paper_std: float | None, metrics: list[str], like: str
) -> dict[str, Any]:
    """A cell near the paper's value; the paper's is in the metric `like`."""
    values = {}
    for index, metric in enumerate(metrics):
        mean = min(100.0, paper + noise.gauss(0, 1) - (0 if metric == like else 3 + index))
        values[metric] = {"mean": round(mean, 4), "std": round(abs(noise.gauss(0, 0.5)), 4), "n": 3}
    difference = values[like]["mean"] - paper
    agrees = "n/a"
    if paper_std is not None:
        agrees = agreement(Value(**values[like]), PaperValue(paper, paper_std, like))
    published = {"mean": paper, "std": paper_std, "metric": like}
    return {
        "values": values,
        "paper": published,
        "difference": round(difference, 4),
        "agrees": agrees,
        "missing": None,
        "notes": [],
    }


def without(cell: dict[str, Any], reason: str) -> dict[str, Any]:
    return cell | {"values": {}, "difference": None, "agrees": None, "missing": reason}


def mark_best(table: dict[str, Any]) -> dict[str, Any]:
    for cells in table["cells"].values():
        for metric in table["metrics"]:
            values = [c["values"][metric] for c in cells.values() if c["values"].get(metric)]
            means = [value["mean"] for value in values if "mean" in value]
            for value in values:
                value["best"] = bool(means) and value.get("mean") == max(means)
    return table


def number(text: str) -> float | None:
    return float(text) if text else None


def method_table(name: str, title: str, number_of_paper: int, methods: dict[str, str]):
    """Tables 1 and 4: rows are network and data set, columns methods."""
    noise = random.Random(name)
    table = document(name, title, row_header=["Network", "Dataset"])
    table |= {"metrics": METRICS, "columns": [{"key": k, "label": v} for k, v in methods.items()]}
    table["metric_labels"] = {m: m.replace("_", " ").capitalize() for m in METRICS}
    for entry in paper_table(number_of_paper):
        key = f"{entry['network']}/{entry['dataset']}"
        if key not in table["cells"]:
            labels = [entry["network"].upper(), entry["dataset"]]
            table["rows"].append({"key": key, "labels": labels, "notes": []})
        like = "swapped_balanced_accuracy" if entry["network"] == "mlp_tab" else "accuracy"
        cell = measured(noise, float(entry["mean"]), number(entry["std"]), METRICS, like)
        table["cells"].setdefault(key, {})[entry["method"]] = cell
    return mark_best(table)


def table2() -> dict[str, Any]:
    table = document("table2", "Table 2: summary over the tabular data sets", row_header=["Metric"])
    table |= {"metrics": ["value"], "default_metric": "value", "lower_is_better": ["average_rank"]}
    table["columns"] = [{"key": k, "label": v} for k, v in TABULAR.items()]
    noise = random.Random(2)
    for entry in paper_table(2):
        key = entry["metric"]
        table["rows"].append({"key": key, "labels": [key.replace("_", " ")], "notes": []})
        for method in TABULAR:
            paper = float(entry["mlp_tab" if method == "dense" else method])
            ours = int(paper) if key == "num_top1" else round(paper + noise.gauss(0, 0.3), 3)
            table["cells"].setdefault(key, {})[method] = {
                "values": {"value": {"mean": ours}},
                "paper": {"mean": int(paper) if key == "num_top1" else paper, "metric": "value"},
                "difference": round(ours - paper, 3),
                "agrees": "n/a",
                "missing": None,
            }
    return table


def consistency_table(name: str, title: str, number_of_paper: int) -> dict[str, Any]:
    noise = random.Random(name)
    table = document(name, title, row_header=["Dataset", "g(·)"], metrics=["value"])
    table["default_metric"] = "value"
    table["columns"] = [
        {"key": "supernet", "label": "Supernet"},
        {"key": "iunet", "label": "IUNET"},
        {"key": "supernet_distinct_labels", "label": "Labels, Supernet"},
        {"key": "iunet_distinct_labels", "label": "Labels, IUNET"},
    ]
    for entry in paper_table(number_of_paper):
        key = f"{entry['dataset']}/{entry['transform']}"
        labels = [entry["dataset"], entry["transform"]]
        table["rows"].append({"key": key, "labels": labels, "notes": []})
        table["cells"][key] = {
            which: measured(
                noise,
                float(entry[f"{which}_mean"]),
                float(entry[f"{which}_std"]),
                ["value"],
                "value",
            )
            for which in ("supernet", "iunet")
        }
        for which, count in (("supernet", 10.0), ("iunet", 3.0)):
            value = {"mean": count, "text": f"{count:.0f}"}
            counted = {"values": {"value": value}, "paper": None, "missing": None}
            table["cells"][key][f"{which}_distinct_labels"] = counted
    return table


def table6() -> dict[str, Any]:
    noise = random.Random(6)
    models = {
        "mlp_vis": "MLP_VIS",
        "iunet_mlp_vis": "IUNET (MLP_VIS)",
        "cnn": "CNN",
        "iunet_resnet18": "IUNET (ResNet)",
    }
    table = document("table6", "Table 6: IUNET against a CNN")
    table["columns"] = [{"key": k, "label": v} for k, v in models.items()]
    for entry in paper_table(6):
        if entry["dataset"] not in table["cells"]:
            name = entry["dataset"]
            table["rows"].append({"key": name, "labels": [name], "notes": []})
        cell = measured(noise, float(entry["mean"]), float(entry["std"]), ["accuracy"], "accuracy")
        table["cells"].setdefault(entry["dataset"], {})[entry["model"]] = cell
    return mark_best(table)


def table7() -> dict[str, Any]:
    noise = random.Random(7)
    table = document("table7", "Table 7: all tabular data sets", metrics=METRICS)
    table["default_metric"] = "balanced_accuracy"
    like = {
        method: "balanced_accuracy" if method in TUNED else "swapped_balanced_accuracy"
        for method in TABULAR
    }
    table["columns"] = [{"key": k, "label": v, "paper_metric": like[k]} for k, v in TABULAR.items()]
    for entry in paper_table(7):
        name = entry["dataset"]
        notes = ["a subset of the official data"] if name == "adult" else []
        table["rows"].append({"key": name, "labels": [name], "notes": notes})
        cells = table["cells"][name] = {}
        for method in TABULAR:
            paper = float(entry["mlp_tab" if method == "dense" else method])
            std = float(entry["iunet_std"]) if method == "iunet" else None
            cell = measured(noise, paper, std, METRICS, like[method])
            if name in ABSENT:
                cell = without(cell, ABSENT[name])
            elif (name, method) in (("helena", "tabnet"), ("helena", "xgb")):
                cell = without(cell, "not finished")
            elif (name, method) == ("car", "beta_lasso"):
                cell = without(cell, "every weight died")
            elif (name, method) in (("anneal", "omp"), ("volkert", "omp")):
                cell["notes"] = ["disconnected (2 of 3 seeds)"]
            cells[method] = cell
    table["notes"] = ["Budget of the tuned methods: 40 trials per hyperparameter."]
    return mark_best(table)


def data_table(name: str, title: str, number_of_paper: int, columns: dict[str, str]):
    table = document(name, title, caption="Counts of rows.", metrics=["value"], decimals=0)
    table["default_metric"] = "value"
    table["columns"] = [{"key": k, "label": v} for k, v in columns.items()]
    for index, entry in enumerate(paper_table(number_of_paper)):
        key = entry["dataset"]
        table["rows"].append({"key": key, "labels": [key], "notes": []})
        for column in columns:
            paper = float(entry[column]) if "pct" in column else int(entry[column])
            one_more = column == "n_valid" and index % 3 == 2
            cell = {
                "values": {"value": {"mean": paper + 1 if one_more else paper}},
                "paper": {"mean": paper, "metric": "value"},
                "difference": 1 if one_more else 0,
                "agrees": "off by one" if one_more else "yes",
                "missing": None,
            }
            if key in ABSENT:
                cell = without(cell, ABSENT[key])
            table["cells"].setdefault(key, {})[column] = cell
    return table


def text_table(name: str, title: str, row_header: str, columns: list[str], rows: dict):
    """A table of our own: numbers and text, no paper."""
    table = document(name, title, row_header=[row_header], metrics=["value"], caption="")
    table |= {"default_metric": "value", "decimals": 2}
    table["columns"] = [{"key": f"c{i}", "label": label} for i, label in enumerate(columns)]
    for key, entries in rows.items():
        table["rows"].append({"key": key, "labels": [key], "notes": []})
        for index, entry in enumerate(entries):
            value = {"text": entry} if isinstance(entry, str) else {"mean": entry}
            cell = {"values": {"value": value}, "paper": None, "missing": None}
            if entry is None:
                cell = {"values": {}, "paper": None, "missing": "not finished"}
            table["cells"].setdefault(key, {})[f"c{index}"] = cell
    return complete(table)


def own_tables() -> list[dict[str, Any]]:
    return [
        text_table(
            "search_lambda",
            "Appendix E.2: the weight λ",
            "Dataset",
            ["λ = 0.25", "λ = 0.5", "λ = 1"],
            {"cifar10": [63.2, 64.1, 64.8], "vehicle": [80.2, 81.0, 81.8]},
        ),
        text_table(
            "efficiency",
            "Efficiency: size and speed of the networks",
            "Network",
            ["Parameters", "Size on disk", "Latency", "Share kept"],
            {
                "MLP_VIS": [92_012_544, "368.1 MB", "41.25 ms", "100 %"],
                "IUNET (MLP_VIS), r = 8": [11_501_568, "92.4 MB", "9.3 ms", "12.5 %"],
                "RESNET": [11_181_642, "44.8 MB", "9.15 ms", "100 %"],
                "IUNET (RESNET), r = 16": [None, None, None, "6.2 %"],
            },
        ),
        text_table(
            "cost",
            "Cost per method",
            "Method",
            ["Training", "Trials"],
            {"IUNET": ["2 h 10 min", 0], "XGB": ["9 h 02 min", 480], "MLP_TAB+C": [None, 840]},
        ),
    ]


def evidence() -> dict[str, Any]:
    return text_table(
        "metric_problem",
        "Cells of the paper's table 7 that equal the majority rate of the test split",
        "Dataset",
        ["Majority rate", "Rows", "Columns"],
        {
            "credit-g": [70.0, "140 of 200", "MLP_TAB, OMP"],
            "kc1": [84.597, "357 of 422", "OMP, IUNET"],
            "bank-marketing": [88.3, "7985 of 9043", "MLP_TAB, OMP, IUNET"],
        },
    )


def all_tables() -> list[dict[str, Any]]:
    sizes = {f"n_{part}": f"# {part.title()}" for part in ("train", "valid", "test")}
    tables = [
        method_table(
            "table1",
            "Table 1: pruning on the vision data sets",
            1,
            {"dense": "Dense", "omp": "OMP", "beta_lasso": "β-LASSO", "iunet": "IUNET"},
        ),
        table2(),
        consistency_table("table3", "Table 3: consistency of untrained networks", 3),
        method_table("table4", "Table 4: ablation", 4, ABLATION),
        consistency_table("table5", "Table 5: consistency on all vision data sets", 5),
        table6(),
        table7(),
        data_table(
            "table8", "Table 8: the vision data sets", 8, sizes | {"n_classes": "# Classes"}
        ),
        data_table(
            "table9",
            "Table 9: the tabular data sets",
            9,
            sizes
            | {
                "n_features": "# Feats",
                "majority_pct": "Majority",
                "minority_pct": "Minority",
                "openml_task_id": "OpenML ID",
            },
        ),
        *own_tables(),
    ]
    return [complete(table) for table in tables]


def draw(folder: Path, name: str) -> dict[str, str]:
    """A small figure as PNG and PDF."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    for index, axis in enumerate(axes):
        for slope in range(3):
            line = [60 + slope * x - index * 5 for x in range(5)]
            axis.plot([1, 2, 4, 8, 16], line, marker="o")
        axis.set_xscale("log", base=2)
        axis.set_title(["cifar10", "cifar100", "svhn"][index])
    paths = {kind: str(folder / f"{name}.{kind}") for kind in ("png", "pdf")}
    figure.savefig(paths["png"], dpi=160)
    figure.savefig(paths["pdf"], metadata={"CreationDate": None})
    plt.close(figure)
    return paths


def some_facts(**content: Any) -> dict[str, Any]:
    """Facts of a run of which nothing but these is known."""
    empty = {key: {} for key in ("budgets", "machine", "versions", "jobs")}
    unknown = dict.fromkeys(("commit", "dirty", "newest_artifact"))
    return {
        "config_name": "config/test.yaml",
        "config": {"seeds": [0], "own": None, "target": None},
        **empty,
        **unknown,
    } | content


def sample_page(folder: Path) -> Page:
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    config["train"]["supernet"]["epochs"] = 5  # one decision changed
    return Page(
        notice=["A sample for tests: every number of ours is made up."],
        facts=some_facts(
            config_name="config/config.yaml",
            config=config,
            budgets={"xgb": "40 trials per hyperparameter", "mlp_c": "840 trials per study"},
            machine={"device": "x86_64", "threads": "1"},
            versions={"python": "3.11.2", "torch": "2.13.0"},
            commit="86c0c35d1f2a4b5c6d7e8f90123456789abcdef0",
            dirty=True,
            newest_artifact="2026-01-02 03:04 UTC",
            jobs={
                "supernet": {"jobs": 54, "seconds": 5012.3},
                "split": {"jobs": 43, "seconds": 9},
            },
        ),
        documents=[*all_tables(), evidence()],
        figures=[
            Figure(
                "figure2",
                "Figure 2: accuracy against compression",
                "Validation accuracy of MLP_VIS; bands are one standard deviation.",
                **draw(folder, "figure2"),
            ),
            Figure(
                "figure3",
                "Figure 3: weight magnitudes over training",
                "Histograms of |θ| per epoch.",
                **draw(folder, "figure3"),
            ),
        ],
        decisions=read_decisions(ROOT / "reports" / "decisions.yaml"),
        unavailable=dict(ABSENT),
    )
