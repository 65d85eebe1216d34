"""A model as ONNX: from raw columns, or images, to the label and the probabilities.

Each column is an input with its name, [rows, 1]: numbers as float64, NaN where missing; categories
as text, `missing_text` where missing (empty, unless that is a category). The graph contains
imputation, standardising, one-hot with infrequent and unseen levels, all members, their mean
softmax and the label. Images are uint8 [rows, channels, side, side].

ONNX has no sparse layers that runtimes use, so pruned weights are stored as zeros. Only units that
nothing reads, or that are constant, are left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from iunet.data.preprocess import Categorical, Preprocessing
from iunet.deploy import INSTALL_EXPORT
from iunet.deploy.model import PrunedModel
from iunet.errors import UserError
from iunet.networks.folded import Layer, without_dead_units

if TYPE_CHECKING:
    import onnx

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # from 2022, for older runtimes, too
LARGEST = 2**31 - 2**20  # bytes that one file can hold
IMAGES, INPUTS = "images", "inputs"
LABEL, PROBABILITIES = "label", "probabilities"


def build_onnx(model: PrunedModel, layers: list[Layer]) -> onnx.ModelProto:
    """The model, with the layers that `fold` makes of it."""
    graph = _Graph(model, without_dead_units(layers))
    inputs = graph.images() if model.preprocessing["kind"] == "vision" else graph.table()
    return graph.finish(graph.members(inputs))


def build_onnx_network(model: PrunedModel, layers: list[Layer]) -> onnx.ModelProto:
    """Only the layers, from the network's inputs on, to compare runtimes."""
    graph = _Graph(model, layers)
    return graph.finish(graph.members(graph.input(INPUTS, np.float32, layers[0].n_inputs)))


def missing_text(preprocessing: dict[str, Any]) -> str:
    """The text for a missing category: empty, unless that is a level of a column."""
    categorical = Preprocessing.from_json(preprocessing).categorical
    levels = {level for column in categorical for level in column.codes()}
    text = ""
    while text in levels:
        text = f"({text or 'missing'})"
    return text


def described_inputs(preprocessing: dict[str, Any]) -> list[dict[str, Any]]:
    """The inputs of a table's model: name, kind, and the levels of categories.

    Rare levels, which share one place, are only counted.
    """
    fitted = Preprocessing.from_json(preprocessing)
    inputs = [{"name": column.name, "kind": "numeric"} for column in fitted.numeric]
    for column in fitted.categorical:
        levels = {"levels": column.levels, "n_infrequent": len(column.infrequent)}
        inputs.append({"name": column.name, "kind": "categorical", **levels})
    return inputs


class _Graph:
    """An ONNX graph in the making; a step adds nodes and returns the name of its result."""

    def __init__(self, model: PrunedModel, layers: list[Layer]):
        try:
            import onnx
        except ImportError:
            raise UserError(
                f"Export needs the package onnx, which is not installed: {INSTALL_EXPORT}."
            ) from None
        self.onnx, self.model, self.layers = onnx, model, layers
        self.nodes, self.constants, self.inputs = [], [], []
        self.names: set[str] = set()  # taken; columns come first
        self.missing = None

    # ---- from raw columns to the network's inputs

    def table(self) -> str:
        fitted = Preprocessing.from_json(self.model.preprocessing)
        names = [column.name for column in [*fitted.numeric, *fitted.categorical]]
        self.names.update(names)
        if "" in names:
            raise UserError(
                "The model cannot be exported, because the name of a column is empty, which ONNX "
                "does not allow. Give the column a name and fit again."
            )
        self.missing = missing_text(self.model.preprocessing)
        parts = [self._numeric(fitted)] if fitted.numeric else []
        parts += [self._one_hot(column) for column in fitted.categorical]
        return self.node("Concat", parts, "inputs", axis=1)

    def _numeric(self, fitted: Preprocessing) -> str:
        names = [self.input(c.name, np.float64, 1) for c in fitted.numeric]
        raw = self.node("Concat", names, "numbers", axis=1)
        medians, means, stds = (
            self.constant(np.array([[getattr(c, key) for c in fitted.numeric]]), f"{key}s")
            for key in ("median", "mean", "std")
        )
        missing = self.node("IsNaN", [raw], "missing")
        imputed = self.node("Where", [missing, medians, raw], "imputed")
        centred = self.node("Sub", [imputed, means], "centred")
        scaled = self.node("Div", [centred, stds], "standardised")
        return self.node("Cast", [scaled], "numeric", to=self.onnx.TensorProto.FLOAT)

    def _one_hot(self, column: Categorical) -> str:
        codes = column.codes()
        if column.missing_level:
            codes[self.missing] = column.width - 1
        name = self.input(column.name, np.str_, 1)
        flat = self.node("Reshape", [name, self.constant(np.array([-1]), "flat")], "text")
        code = self.node(
            "LabelEncoder",
            [flat],
            "code",
            domain="ai.onnx.ml",
            keys_strings=list(codes),
            values_int64s=list(codes.values()),
            default_int64=column.width,  # behind the last: zeros (-1 would be the last)
        )
        depth = self.constant(np.array(column.width), "width")
        off_on = self.constant(np.array([0, 1], np.float32), "off_on")
        return self.node("OneHot", [code, depth, off_on], "one_hot", axis=-1)

    def images(self) -> str:
        from iunet.data.load import VisionInputs

        network = self.model.network
        shape = (network["channels"], network["side"], network["side"])
        raw = self.input(IMAGES, np.uint8, *shape)
        floats = self.node("Cast", [raw], "floats", to=self.onnx.TensorProto.FLOAT)
        prepare = VisionInputs(self.model.preprocessing, "cpu")
        scaled = self.node("Mul", [floats, self.constant(prepare.scale.numpy(), "scale")], "scaled")
        shifted = self.node(
            "Add", [scaled, self.constant(prepare.shift.numpy(), "shift")], "normalised"
        )
        return self.node("Flatten", [shifted], "inputs", axis=1)

    # ---- from there to probabilities and label

    def members(self, inputs: str) -> str:
        softmaxes = [self._member(inputs, m) for m in range(len(self.model.members))]
        return self.node("Mean", softmaxes, "mean")

    def _member(self, h: str, member: int) -> str:
        for i, layer in enumerate(self.layers):
            weights = self.constant(np.ascontiguousarray(layer.weights[member].T), "weights")
            biases = self.constant(layer.biases[member], "biases")
            h = self.node("Gemm", [h, weights, biases], "sums")
            if i < len(self.layers) - 1:
                h = self.node("Relu", [h], "units")
        return self.node("Softmax", [h], "softmax", axis=1)

    def finish(self, probabilities: str) -> onnx.ModelProto:
        helper, classes = self.onnx.helper, class_array(self.model.classes)
        best = self.node("ArgMax", [probabilities], "best", axis=1, keepdims=0)
        label, named = self.free(LABEL), self.free(PROBABILITIES)
        self.node("Gather", [self.constant(classes, "classes"), best], name=label)
        self.node("Identity", [probabilities], name=named)
        outputs = [
            helper.make_tensor_value_info(label, self._type(classes.dtype), ["rows"]),
            helper.make_tensor_value_info(
                named, self.onnx.TensorProto.FLOAT, ["rows", len(classes)]
            ),
        ]
        graph = helper.make_graph(self.nodes, "iunet", self.inputs, outputs, self.constants)
        size = sum(len(constant.raw_data) for constant in self.constants)
        if size > LARGEST:
            raise UserError(
                f"The network is too large for an ONNX file: its weights take {size:,} bytes, and "
                f"a file can hold {LARGEST:,}."
            )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        built = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="iunet-bench"
        )
        facts = {"classes": self.model.classes, "made_by": self.model.origin}
        facts |= {} if self.missing is None else {"missing_text": self.missing}
        properties = {key: json.dumps(value, sort_keys=True) for key, value in facts.items()}
        helper.set_model_props(built, properties)
        self.onnx.checker.check_model(built)
        return built

    # ---- pieces

    def free(self, name: str) -> str:
        """The name, with underscores appended while it is taken."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def input(self, name: str, kind: type, *shape: int) -> str:
        info = self.onnx.helper.make_tensor_value_info(name, self._type(kind), ["rows", *shape])
        self.inputs.append(info)
        self.names.add(name)
        return name

    def constant(self, values: np.ndarray, what: str) -> str:
        name = self.free(f"{what}{len(self.constants)}")
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def node(
        self, operator: str, inputs: list[str], what: str = "", name: str = "", **attributes: Any
    ) -> str:
        name = name or self.free(f"{what}{len(self.nodes)}")
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _type(self, kind: Any) -> int:
        if kind in (np.str_, object):
            return self.onnx.TensorProto.STRING
        return self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))


def class_array(classes: list[Any]) -> np.ndarray:
    """Labels as an array of one type: all numbers or all bools stay, anything else is text."""
    for kind, dtype in ((bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(label) is kind for label in classes):
            return np.array(classes, dtype=dtype)
    return np.array([str(label) for label in classes], dtype=object)
