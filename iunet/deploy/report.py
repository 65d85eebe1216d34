"""What an exported model costs: parameters, bytes, operations, and milliseconds of a prediction."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np

from iunet.deploy.compact import dense_bytes
from iunet.deploy.dense import dense_torch, in_onnxruntime, reference_probabilities
from iunet.deploy.fast import FastModel
from iunet.deploy.folded import FoldedModel, empty_network, without_dead_units
from iunet.deploy.model import PrunedModel
from iunet.deploy.onnx import described_inputs, missing_text
from iunet.deploy.timing import BATCHES, milliseconds
from iunet.escape import markdown_text
from iunet.evaluation.sizes import sizes
from iunet.networks.network import NetworkSpec

SHOWN = 20  # levels of a column in the Markdown
DENSE_TORCH, DENSE_ONNX, ONNX = "dense, torch", "dense, onnxruntime", "model.onnx, onnxruntime"


def report_on(
    model: PrunedModel, folded: FoldedModel, files: dict[str, Path], repeats: int
) -> dict[str, Any]:
    """`files`: the compact file as `compact`, the ONNX file as `onnx`."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(max(BATCHES), folded.n_inputs)).astype(np.float32)
    forms = latency_forms(folded)
    fast = next(reversed(forms))
    expected = reference_probabilities(model, inputs)
    report = {
        "made_from": model.origin,
        "network": model.network,
        "classes": model.classes,
        "sizes": _sizes(model),
        "bytes": {
            "dense": dense_bytes(folded),
            **{name: path.stat().st_size for name, path in files.items()},
        },
        "largest_difference": {
            form: float(np.abs(predict(inputs) - expected).max()) for form, predict in forms.items()
        },
        "milliseconds": {
            str(batch): times for batch, times in milliseconds(forms, inputs, repeats).items()
        },
        "fast": fast,
    }
    if model.preprocessing["kind"] == "tabular":
        report["missing_text"] = missing_text(model.preprocessing)
        report["inputs"] = described_inputs(model.preprocessing)
    return report


def latency_forms(folded: FoldedModel) -> dict[str, Any]:
    """All forms in which the network can predict here, the fast one last."""
    forms = {DENSE_TORCH: dense_torch(folded)}
    if importlib.util.find_spec("onnxruntime"):
        forms[DENSE_ONNX] = in_onnxruntime(folded, folded.layers)
        forms[ONNX] = in_onnxruntime(folded, without_dead_units(folded.layers))
    fast = FastModel(folded)
    return forms | {f"fast, {fast.kernels}": fast.probabilities}


def speedups(report: dict[str, Any]) -> dict[str, float]:
    """By batch size: milliseconds of the faster dense form / of the fast one."""
    ratios = {}
    for batch, times in report["milliseconds"].items():
        dense = min(times[form] for form in (DENSE_TORCH, DENSE_ONNX) if form in times)
        ratios[batch] = dense / times[report["fast"]]
    return ratios


def _sizes(model: PrunedModel) -> dict[str, Any]:
    kept = {name: int(mask.sum()) for name, mask in model.masks.items()}
    network, spec = empty_network(model.network), NetworkSpec(**model.network)
    return sizes(network, spec, kept, len(model.members))


def report_text(report: dict[str, Any]) -> str:
    """The report for people, as Markdown."""
    counts, n_bytes = report["sizes"], report["bytes"]
    compression = n_bytes["dense"] / n_bytes["compact"]
    lines = [
        f"# {report['network']['name']}, {counts['members']} members",
        "",
        "| | dense | kept |",
        "|---|---|---|",
        f"| encoder weights of a member | {counts['encoder_weights']:,} "
        f"| {counts['kept_encoder_weights']:,} |",
        f"| parameters of a member | {counts['parameters']:,} | {counts['kept_parameters']:,} |",
        f"| operations of a member for a row | {counts['flops_dense']:,} "
        f"| {counts['flops_sparse']:,} |",
        f"| bytes, all members | {n_bytes['dense']:,} | model.safetensors {n_bytes['compact']:,} "
        f"(1/{compression:.1f}) |",
        "",
        f"model.onnx has {n_bytes['onnx']:,} bytes: ONNX stores pruned weights as zeros, so its "
        "size is dense. Only units that nothing reads, or that are constant, are left out of it.",
        "",
        "| milliseconds of a call (median CPU time, one thread) | "
        + " | ".join(f"batch {batch}" for batch in report["milliseconds"])
        + " | largest difference of a probability |",
        "|---|" + "---|" * (len(report["milliseconds"]) + 1),
    ]
    for form, difference in report["largest_difference"].items():
        times = (f"{times[form]:.3g}" for times in report["milliseconds"].values())
        lines.append(f"| {form} | {' | '.join(times)} | {difference:.1e} |")
    ratios = (f"{ratio:.2f} times at batch {batch}" for batch, ratio in speedups(report).items())
    lines += ["", f"The fast form against the faster dense one: {', '.join(ratios)} as fast."]
    if report.get("missing_text") is not None:
        lines += ["", _columns_text(report["missing_text"]), "", *_inputs_table(report["inputs"])]
    return "\n".join(lines) + "\n"


def _columns_text(missing: str) -> str:
    shown = f"the text `{missing}`" if missing else "the empty text"
    return (
        "model.onnx takes each column as an input of its name, of shape [rows, 1]: numbers as "
        f"float64 with NaN where missing, categories as text with {shown} where missing. A text "
        "means a level only if it is written as here; any other is a level that training never had."
    )


def _inputs_table(inputs: list[dict[str, Any]]) -> list[str]:
    lines = ["| input | kind | levels |", "|---|---|---|"]
    for column in inputs:
        levels = column.get("levels", [])
        shown = [json.dumps(level, ensure_ascii=False) for level in levels[:SHOWN]]
        if more := len(levels) - len(shown):
            shown.append(f"{more} more in report.json")
        if column.get("n_infrequent"):
            shown.append(f"{column['n_infrequent']} rare ones that share a place")
        cells = (column["name"], column["kind"], ", ".join(shown))
        lines.append(f"| {' | '.join(map(markdown_text, cells))} |")
    return lines
