#!/usr/bin/env python3
"""Writes the small ONNX graphs that the peer onnxruntime-web runs: make_models.py FOLDER. Needs PyPI's onnx."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, F16, I64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
OUT = Path(sys.argv[1])
Value = tuple[str, int, Sequence[int]]  # name, element type, shape
node = helper.make_node


def save(
    name: str,
    nodes: list[onnx.NodeProto],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Sequence[onnx.TensorProto] = (),
    *,
    opset: int = 20,
    microsoft: bool = False,
) -> None:
    made = [[helper.make_tensor_value_info(*value) for value in values] for values in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *made, list(constants))
    opsets = [helper.make_opsetid("", opset)] + microsoft * [helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    if not microsoft:
        onnx.checker.check_model(model)
    onnx.save(model, OUT / f"{name}.onnx")


def const(name: str, value: object) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def stream(n: int, seed: int) -> np.ndarray:
    """The numbers of rand() in www/spec.mjs, in [-1, 1)."""
    out, state = np.empty(n, np.float32), seed
    for i in range(n):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = (state >> 8) / 8388608.0 - 1.0
    return out


def products() -> None:
    def one(name: str, a: list[int], b: list[int], y: list[int], kind: int = F32) -> None:
        save(name, [node("MatMul", ["A", "B"], ["Y"])], [("A", kind, a), ("B", kind, b)], [("Y", kind, y)])

    for n in (256, 512, 1024, 2048, 4096):
        one(f"mm{n}", [n, n], [n, n], [n, n])
    one("bmm64x128", [64, 128, 128], [64, 128, 128], [64, 128, 128])
    one("mv4096", [1, 4096], [4096, 4096], [1, 4096])
    for n in (2048, 4096):
        one(f"mmh{n}", [n, n], [n, n], [n, n], F16)


def chains() -> None:
    for name, n in (("chain1M", 1 << 20), ("chain64M", 1 << 26)):
        nodes = [
            node("Mul", ["A", "B"], ["t"]), node("Add", ["t", "C"], ["u"]), node("Tanh", ["u"], ["v"]),
            node("Mul", ["v", "h"], ["Y"]),
        ]  # fmt: skip
        save(name, nodes, [(k, F32, [n]) for k in "ABC"], [("Y", F32, [n])], [const("h", np.float32(0.5))])


def rows(n: int) -> None:
    """Reductions and row-wise functions of n x n."""
    square = [n, n]
    x: Value = ("X", F32, square)
    save(f"sum_all_{n}", [node("ReduceSum", ["X"], ["Y"], keepdims=0)], [x], [("Y", F32, [])])
    for axis in (0, 1):
        nodes = [node("ReduceSum", ["X", "ax"], ["Y"], keepdims=0)]
        save(f"sum_ax{axis}_{n}", nodes, [x], [("Y", F32, [n])], [const("ax", np.array([axis]))])
    save(f"argmax_{n}", [node("ArgMax", ["X"], ["Y"], axis=1, keepdims=0)], [x], [("Y", I64, [n])])
    save(f"softmax_{n}", [node("Softmax", ["X"], ["Y"], axis=-1)], [x], [("Y", F32, square)])
    nodes = [node("LayerNormalization", ["X", "G", "B"], ["Y"], axis=-1, epsilon=1e-5)]
    save(f"layernorm_{n}", nodes, [x, ("G", F32, [n]), ("B", F32, [n])], [("Y", F32, square)])
    nodes = [node("CumSum", ["X", "ax"], ["Y"])]
    save(f"cumsum_{n}", nodes, [x], [("Y", F32, square)], [const("ax", np.array(1))])


def convolution() -> None:
    image, weights = [1, 64, 56, 56], [64, 64, 3, 3]
    nodes = [node("Conv", ["X", "W"], ["Y"], pads=[1, 1, 1, 1], kernel_shape=[3, 3])]
    x: Value = ("X", F32, image)
    save("conv", nodes, [x, ("W", F32, weights)], [("Y", F32, image)])
    fixed = const("W", stream(64 * 64 * 9, 12).reshape(weights))
    save("conv_const", nodes, [x], [("Y", F32, image)], [fixed])


def attention() -> None:
    heads, width = 8, 64
    for length in (256, 1024):
        shape = [1, heads, length, width]
        scale = const("sc", np.float32(width**-0.5))
        first = [
            node("Transpose", ["K"], ["Kt"], perm=[0, 1, 3, 2]), node("Mul", ["Q", "sc"], ["Qs"]),
            node("MatMul", ["Qs", "Kt"], ["L"]),
        ]  # fmt: skip
        inputs: list[Value] = [(k, F32, shape) for k in "QKV"]
        outputs: list[Value] = [("Y", F32, shape)]
        last = [node("Softmax", ["L"], ["P"], axis=-1), node("MatMul", ["P", "V"], ["Y"])]
        save(f"attn_{length}", first + last, inputs, outputs, [scale])
        masked = [node("Add", ["L", "M"], ["Lm"]), node("Softmax", ["Lm"], ["P"], axis=-1), last[1]]
        mask: Value = ("M", F32, [1, 1, length, length])
        save(f"attn_causal_{length}", first + masked, [*inputs, mask], outputs, [scale])
        flat = [1, length, heads * width]
        for causal in (0, 1):
            tag = f"{'causal_' if causal else ''}{length}"
            options = {"domain": "com.microsoft", "num_heads": heads, "unidirectional": causal}
            nodes = [node("MultiHeadAttention", ["Q", "K", "V"], ["Y"], **options)]
            save(f"mha_{tag}", nodes, [(k, F32, flat) for k in "QKV"], [("Y", F32, flat)], microsoft=True)
            nodes = [node("Attention", ["Q", "K", "V"], ["Y"], is_causal=causal)]
            save(f"attn23_{tag}", nodes, inputs, outputs, opset=23)


# As LAYERS in www/spec.mjs.
LAYERS = (
    (64, 64, 1, 1), (64, 64, 3, 1), (256, 64, 1, 1), (128, 256, 1, 1), (128, 128, 3, 2), (512, 128, 1, 1),
    (256, 512, 1, 1), (256, 256, 3, 2), (1024, 256, 1, 1), (512, 1024, 1, 1), (512, 512, 3, 2), (2048, 512, 1, 1),
)  # fmt: skip


def resnet() -> None:
    """A bottleneck of each stage, weights as inputs."""
    nodes, inputs, last = [], [("X", F32, [1, 64, 56, 56])], "X"
    for k, (out, into, size, stride) in enumerate(LAYERS):
        inputs.append((f"W{k}", F32, [out, into, size, size]))
        end = "Y" if k == len(LAYERS) - 1 else f"y{k}"
        options = {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4}
        nodes += [node("Conv", [last, f"W{k}"], [f"c{k}"], **options), node("Relu", [f"c{k}"], [end])]
        last = end
    save("resnet", nodes, inputs, [("Y", F32, [1, 2048, 7, 7])])


def minilm() -> None:
    """A sentence encoder of MiniLM-L6's sizes with ONNX Runtime's fused operators; weights as inputs."""
    batch, length, width, inner, heads, words = 32, 128, 384, 1536, 12, 1024
    inputs: list[Value] = [
        ("IDS", TensorProto.INT32, [batch, length]), ("E", F32, [words, width]), ("P", F32, [length, width]),
        ("G", F32, [width]), ("Z", F32, [width]),
    ]  # fmt: skip
    contrib = {"domain": "com.microsoft"}
    nodes = [
        node("Gather", ["E", "IDS"], ["words"]), node("Add", ["words", "P"], ["sum"]),
        node("LayerNormalization", ["sum", "G", "Z"], ["x0"], axis=-1, epsilon=1e-12),
    ]  # fmt: skip
    for k in range(6):
        inputs += [(f"{w}{k}", F32, [width, width]) for w in ("WQ", "WK", "WV", "WO")]
        inputs += [(f"W1{k}", F32, [width, inner]), (f"W2{k}", F32, [inner, width])]
        inputs += [(f"BO{k}", F32, [width]), (f"B1{k}", F32, [inner])]
        nodes += [node("MatMul", [f"x{k}", f"W{x}{k}"], [f"{x}{k}"]) for x in "QKV"]
        nodes += [
            node("MultiHeadAttention", [f"{x}{k}" for x in "QKV"], [f"a{k}"], num_heads=heads, **contrib),
            node("MatMul", [f"a{k}", f"WO{k}"], [f"o{k}"]),
            node("SkipLayerNormalization", [f"o{k}", f"x{k}", "G", "Z", f"BO{k}"], [f"n{k}"], epsilon=1e-12, **contrib),
            node("MatMul", [f"n{k}", f"W1{k}"], [f"i{k}"]), node("Add", [f"i{k}", f"B1{k}"], [f"j{k}"]),
            node("Gelu", [f"j{k}"], [f"g{k}"]), node("MatMul", [f"g{k}", f"W2{k}"], [f"f{k}"]),
            node("SkipLayerNormalization", [f"f{k}", f"n{k}", "G", "Z"], [f"x{k + 1}"], epsilon=1e-12, **contrib),
        ]  # fmt: skip
    nodes += [
        node("ReduceSum", ["x6", "axis"], ["m"], keepdims=0),
        node("Mul", ["m", "m"], ["mm"]), node("ReduceSum", ["mm", "last"], ["ms"], keepdims=1),
        node("Sqrt", ["ms"], ["mr"]), node("Div", ["m", "mr"], ["Y"]),
    ]  # fmt: skip
    constants = [const("axis", np.array([1])), const("last", np.array([-1]))]
    save("minilm", nodes, inputs, [("Y", F32, [batch, width])], constants, microsoft=True)


def others() -> None:
    for bits in (16, 20):
        n = 1 << bits
        nodes = [node("TopK", ["X", "k"], ["Y", "Z"], axis=0, largest=0, sorted=1)]
        outputs: list[Value] = [("Y", F32, [n]), ("Z", I64, [n])]
        save(f"sort_{bits}", nodes, [("X", F32, [n])], outputs, [const("k", np.array([n]))])
    for batch, n in ((64, 1024), (1024, 1024)):
        shape = [batch, n, 2]
        nodes = [node("DFT", ["X", "", "ax"], ["Y"])]
        save(f"fft_{batch}x{n}", nodes, [("X", F32, shape)], [("Y", F32, shape)], [const("ax", np.array(1))])
    small: list[Value] = [("X", F32, [1024]), ("B", F32, [1024])]
    result: list[Value] = [("Y", F32, [1024])]
    save("add1024", [node("Add", ["X", "B"], ["Y"])], small, result)
    names = ["X", *(f"t{i}" for i in range(1, 1000)), "Y"]
    nodes = [node("Add", [names[i], "B"], [names[i + 1]]) for i in range(1000)]
    save("add1024x1000", nodes, small, result)
    save("sum1024", [node("ReduceSum", ["X"], ["Y"], keepdims=0)], small[:1], [("Y", F32, [])])


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    products()
    chains()
    for size in (512, 1024, 4096):
        rows(size)
    convolution()
    attention()
    resnet()
    minilm()
    others()
    print(len(list(OUT.iterdir())), "models in", OUT)
