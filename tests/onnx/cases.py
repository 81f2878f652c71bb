"""ONNX's node tests as plain data: from the `onnx` package, or from the file that `python cases.py FILE` wrote.

A case is a dict: name, op, attrs, inputs, outputs, wanted, rtol, atol. A tensor is (name of its dtype, NumPy array);
values of bfloat16 are float32 ones. What is absent is None.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

OPERATORS = """
Attention AveragePool BatchNormalization Celu Clip Conv ConvTranspose CumProd CumSum Einsum Elu Erf Gather
GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool GridSample GroupNormalization HardSigmoid HardSwish
Hardmax InstanceNormalization LRN LayerNormalization LeakyRelu LogSoftmax LpNormalization LpPool MatMul MaxPool Mish
NegativeLogLikelihoodLoss PRelu Pad RMSNormalization Relu Resize RotaryEmbedding Scatter ScatterElements ScatterND
Selu Shrink Sigmoid Softmax SoftmaxCrossEntropyLoss Softplus Softsign SwiGLU Swish Tanh TensorScatter ThresholdedRelu
TopK Trilu
""".split()


def tensor(x: Any) -> tuple[str, Any]:
    """A tensor of the onnx package: a NumPy array, whose dtype may be one of ml_dtypes."""
    import numpy as np

    x = np.asarray(x)
    return x.dtype.name, x.astype(np.float32) if x.dtype.name == "bfloat16" else x


def collect() -> list[dict[str, Any]]:
    """The cases of OPERATORS with one node; the same as graphs of other operators (`expanded`) are left out."""
    from onnx.backend.test.case.node import collect_testcases
    from onnx.helper import get_attribute_value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    cases = []
    for case in found:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in OPERATORS or "_expanded" in case.name:
            continue
        (node,) = nodes
        attrs = {a.name: get_attribute_value(a) for a in node.attribute}
        for given, wanted in case.data_sets:
            inputs = iter(given)
            cases.append(
                {
                    "name": case.name.removeprefix("test_"),
                    "op": node.op_type,
                    "attrs": {k: v.decode() if isinstance(v, bytes) else v for k, v in attrs.items()},
                    "inputs": [tensor(next(inputs)) if name else None for name in node.input],
                    "outputs": list(node.output),
                    "wanted": [tensor(x) for x in wanted],
                    "rtol": case.rtol,
                    "atol": case.atol,
                }
            )
    return sorted(cases, key=lambda c: (c["op"], c["name"]))


def load() -> list[dict[str, Any]]:
    """The cases in the file that ONNX_CASES names, or else collected now."""
    if path := os.environ.get("ONNX_CASES"):
        return pickle.loads(Path(path).read_bytes())  # type: ignore[no-any-return]
    return collect()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(pickle.dumps(collect()))
