"""Writes trained weights as an ONNX graph whose matrices and tables are int8.

    python training/export.py WEIGHTS.npz DATA.npz MODEL.onnx

One long row of tokens is the input; between two stretches stand rows with mask 0, as many as the widest layer reaches.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from minilm import piece_vectors
from model import DILATIONS
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def const(self, name: str, value: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def op(self, kind: str, inputs: list[str], name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def int8(self, name: str, value: np.ndarray) -> tuple[str, str]:
        """A matrix in int8 and the scale of each of its columns."""
        scale = np.maximum(np.abs(value).max(0), 1e-8) / 127
        rounded = np.clip(np.rint(value / scale), -127, 127).astype(np.int8)
        return self.const(name, rounded), self.const(name + "_scale", scale.astype(np.float32))

    def matrix(self, name: str, value: np.ndarray) -> str:
        stored, scale = self.int8(name, value)
        return self.op("DequantizeLinear", [stored, scale], name + "_float", axis=1)

    def table(self, name: str, value: np.ndarray, rows: str) -> str:
        """Sum over the looked-up rows."""
        stored, scale = self.int8(name, value)
        found = self.op("Gather", [stored, rows], name + "_rows", axis=0)
        numbers = self.op("Cast", [found], name + "_cast", to=TensorProto.FLOAT)
        total = self.op("ReduceSum", [numbers, "one"], name + "_sum", keepdims=0)
        return self.op("Mul", [total, scale], name + "_scaled")


def build(weights: dict[str, np.ndarray], heads: list[str]) -> onnx.ModelProto:
    """The graph of ``model.Encoder`` for tagging."""
    graph = Graph()
    graph.const("one", np.asarray([1], np.int64))
    graph.const("zero_pieces", np.asarray(0, np.int32))
    graph.const("at_least", np.asarray(1, np.float32))
    used = graph.op(
        "Cast", [graph.op("Greater", ["pieces", "zero_pieces"], "used")], "used_float", to=TensorProto.FLOAT
    )
    count = graph.op("Max", [graph.op("ReduceSum", [used, "one"], "used_sum", keepdims=1), "at_least"], "count")
    words = graph.table("word_pieces", piece_vectors() @ weights["project.weight"].T, "pieces")
    words = graph.op("Div", [words, count], "words")
    hashed = graph.table("spellings", weights["hashes.weight"], "hashes")
    hashed = graph.op("MatMul", [hashed, graph.matrix("mix", weights["mix.weight"].T)], "mixed")
    bits = graph.op("Cast", ["bits"], "bits_float", to=TensorProto.FLOAT)
    bits = graph.op("MatMul", [bits, graph.matrix("dictionary", weights["bits.weight"].T)], "dictionary_mixed")
    total = graph.op("Add", [words, hashed], "sum_1")
    total = graph.op("Add", [total, bits], "sum_2")
    total = graph.op("Add", [total, graph.const("mix_bias", weights["mix.bias"])], "sum_3")

    def norm(value: str, prefix: str, name: str) -> str:
        scale = graph.const(name + "_weight", weights[prefix + ".weight"])
        bias = graph.const(name + "_bias", weights[prefix + ".bias"])
        normal = graph.op("LayerNormalization", [value, scale, bias], name, axis=-1, epsilon=1e-5)
        return graph.op("Mul", [normal, "mask"], name + "_masked")

    hidden = first = norm(total, "norm", "first")
    for layer, step in enumerate(DILATIONS):
        pads = graph.const(f"pads_{layer}", np.asarray([step, 0, step, 0], np.int64))
        wide = graph.op("Pad", [hidden, pads], f"wide_{layer}")
        sides = []
        for side, (begin, end) in (("left", (0, -2 * step)), ("right", (2 * step, np.iinfo(np.int64).max))):
            bounds = [
                graph.const(f"{side}_{layer}_{name}", np.asarray([value], np.int64))
                for name, value in (("from", begin), ("to", end), ("axis", 0))
            ]
            sides.append(graph.op("Slice", [wide, *bounds], f"{side}_{layer}"))
        window = graph.op("Concat", [sides[0], hidden, sides[1]], f"window_{layer}", axis=1)
        mixed = graph.op(
            "MatMul", [window, graph.matrix(f"layer_{layer}", weights[f"layers.{layer}.weight"].T)], f"product_{layer}"
        )
        mixed = graph.op(
            "Add", [mixed, graph.const(f"bias_{layer}", weights[f"layers.{layer}.bias"])], f"linear_{layer}"
        )
        mixed = graph.op("Gelu", [mixed], f"gelu_{layer}", approximate="tanh")
        hidden = norm(graph.op("Add", [hidden, mixed], f"residual_{layer}"), f"norms.{layer}", f"norm_{layer}")
    both = graph.op("Concat", [hidden, first], "both", axis=1)
    logits = graph.op("MatMul", [both, graph.matrix("out", weights["out.weight"].T)], "logits_product")
    logits = graph.op("Add", [logits, graph.const("out_bias", weights["out.bias"])], "logits_flat")
    shape = graph.const("shape", np.asarray([-1, len(heads), weights["out.bias"].size // len(heads)], np.int64))
    graph.op("LogSoftmax", [graph.op("Reshape", [logits, shape], "logits")], "scores", axis=-1)
    tokens = "tokens"
    inputs = [
        helper.make_tensor_value_info("pieces", TensorProto.INT32, [tokens, None]),
        helper.make_tensor_value_info("hashes", TensorProto.INT32, [tokens, None]),
        helper.make_tensor_value_info("bits", TensorProto.UINT8, [tokens, weights["bits.weight"].shape[1]]),
        helper.make_tensor_value_info("mask", TensorProto.FLOAT, [tokens, 1]),
    ]
    output = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [tokens, len(heads), shape and None])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "tagger", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
        producer_name="starling",
    )
    helper.set_model_props(model, {"heads": ",".join(heads)})
    onnx.checker.check_model(model)
    return model


def main() -> None:
    """Read, build, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    options = parser.parse_args()
    heads = np.load(options.data)["heads"].tolist()
    model = build(dict(np.load(options.weights)), heads)
    options.model.write_bytes(model.SerializeToString(deterministic=True))
    print(f"{options.model}: {options.model.stat().st_size / 1e6:.1f} MB, heads {', '.join(heads)}")


if __name__ == "__main__":
    main()
