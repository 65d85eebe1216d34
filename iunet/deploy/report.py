"""What an exported model costs: parameters, bytes, operations, and milliseconds of a prediction."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from iunet.deploy.fast import FastModel, TorchLayers, mean_softmax
from iunet.deploy.model import PrunedModel
from iunet.deploy.onnx import (
    INPUTS,
    PROBABILITIES,
    build_onnx_network,
    described_inputs,
    missing_text,
)
from iunet.escape import markdown_text
from iunet.evaluation.latency import milliseconds
from iunet.networks.folded import Layer, without_dead_units

BATCHES = (1, 256)  # rows of the calls that are timed
SHOWN = 20  # levels of a column in the Markdown
Predict = Callable[[np.ndarray], np.ndarray]  # the network's inputs → probabilities
DENSE_TORCH, DENSE_ONNX, ONNX = "dense, torch", "dense, onnxruntime", "model.onnx, onnxruntime"


def report_on(
    model: PrunedModel, layers: list[Layer], files: dict[str, Path], repeats: int
) -> dict[str, Any]:
    """The report as JSON; `files` has the model file as `compact` and the ONNX file as `onnx`."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(max(BATCHES), layers[0].n_inputs)).astype(np.float32)
    forms = latency_forms(model, layers)
    fast = next(reversed(forms))
    expected = model.probabilities(inputs)
    times = {str(b): milliseconds(forms, inputs[:b], repeats) for b in BATCHES}
    dense = [form for form in (DENSE_TORCH, DENSE_ONNX) if form in forms]
    sizes = {name: path.stat().st_size for name, path in files.items()}
    report = {
        "made_from": model.origin,
        "network": model.network,
        "classes": model.classes,
        "sizes": model.sizes(),
        "bytes": {"dense": dense_bytes(layers), **sizes},
        "largest_difference": {
            form: float(np.abs(predict(inputs) - expected).max()) for form, predict in forms.items()
        },
        "milliseconds": times,
        "fast": fast,
        "speedup": {b: min(ms[form] for form in dense) / ms[fast] for b, ms in times.items()},
    }
    if model.preprocessing["kind"] == "tabular":
        report["missing_text"] = missing_text(model.preprocessing)
        report["inputs"] = described_inputs(model.preprocessing)
    return report


# ---- the forms of a network


def latency_forms(model: PrunedModel, layers: list[Layer]) -> dict[str, Predict]:
    """All forms of the network that can predict here, the fast one last."""
    forms = {DENSE_TORCH: dense_torch(layers)}
    if importlib.util.find_spec("onnxruntime"):
        forms[DENSE_ONNX] = in_onnxruntime(model, layers)
        forms[ONNX] = in_onnxruntime(model, without_dead_units(layers))
    fast = FastModel(layers)
    return forms | {f"fast, {fast.kernels}": fast.probabilities}


def dense_torch(layers: list[Layer]) -> Predict:
    """All weights of the layers in torch, zeros included."""
    prepared = TorchLayers(layers)
    return lambda inputs: mean_softmax(prepared.outputs(inputs))


def in_onnxruntime(model: PrunedModel, layers: list[Layer]) -> Predict:
    """These layers of the model in onnxruntime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    built = build_onnx_network(model, layers).SerializeToString()
    session = onnxruntime.InferenceSession(built, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run([PROBABILITIES], {INPUTS: inputs})[0]


def dense_bytes(layers: list[Layer]) -> int:
    """Bytes of the same members dense in float32, including BatchNorm."""
    return sum(layer.weights.nbytes + layer.biases.nbytes for layer in layers)


# ---- for people

TEXT = """\
# {network[name]}, members: {sizes[members]}

| | dense | kept |
|---|---|---|
| encoder weights of a member | {sizes[encoder_weights]:,} | {sizes[kept_encoder_weights]:,} |
| parameters of a member | {sizes[parameters]:,} | {sizes[kept_parameters]:,} |
| operations of a member for a row | {sizes[flops_dense]:,} | {sizes[flops_sparse]:,} |
| bytes, all members | {bytes[dense]:,} | model.safetensors {bytes[compact]:,} (1/{smaller:.1f}) |

model.onnx has {bytes[onnx]:,} bytes. ONNX stores pruned weights as zeros, so its size is dense; \
only units that nothing reads, or that are constant, are left out.

| milliseconds of a call (median CPU time, one thread) | batch 1 | batch 256 \
| largest difference of a probability |
|---|---|---|---|
{forms}

Compared with the faster dense form, the fast form is {one_row} at batch 1, and {many_rows} at \
batch 256.
"""

COLUMNS = """
Each column is an input of model.onnx with its name and the shape [rows, 1]: numbers as float64, \
NaN where missing; categories as text, {missing} where missing. Text must be written exactly \
as here; any other text counts as a level that training did not see.

| input | kind | levels |
|---|---|---|
{columns}
"""


def report_text(report: dict[str, Any]) -> str:
    """The report for people, as Markdown."""
    one, many = report["milliseconds"].values()
    differences = report["largest_difference"].items()
    forms = (
        f"| {form} | {one[form]:.3g} | {many[form]:.3g} | {d:.1e} |" for form, d in differences
    )
    one_row, many_rows = map(speed_text, report["speedup"].values())
    smaller = report["bytes"]["dense"] / report["bytes"]["compact"]
    text = TEXT.format_map(
        report
        | {"forms": "\n".join(forms), "smaller": smaller}
        | {"one_row": one_row, "many_rows": many_rows}
    )
    if "inputs" in report:
        missing = report["missing_text"]
        shown = f"the text `{missing}`" if missing else "the empty text"
        text += COLUMNS.format(missing=shown, columns="\n".join(map(_input_row, report["inputs"])))
    return text


def speed_text(ratio: float) -> str:
    return (
        f"{100 * ratio - 100:.0f} % faster" if ratio >= 1 else f"{100 - 100 * ratio:.0f} % slower"
    )


def _input_row(column: dict[str, Any]) -> str:
    levels = column.get("levels", [])
    shown = [json.dumps(level, ensure_ascii=False) for level in levels[:SHOWN]]
    if more := len(levels) - len(shown):
        shown.append(f"{more} more in report.json")
    if column.get("n_infrequent"):
        shown.append(f"{column['n_infrequent']} rare ones that share one place")
    cells = (column["name"], column["kind"], ", ".join(shown))
    return f"| {' | '.join(map(markdown_text, cells))} |"
