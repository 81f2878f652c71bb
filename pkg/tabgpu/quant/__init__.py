"""Quantised weights: GGML's block formats kept as they are in GPU memory, decoded inside the kernels; weight files."""

from __future__ import annotations

from .experts import moe_matmul, moe_matvec
from .files import WeightFileError, Weights
from .gguf import load_gguf
from .products import linear, matmul, matvec, take_rows
from .quantizing import quantize
from .safetensors import load_safetensors
from .tensor import FORMATS, QTensor, from_bytes

__all__ = [
    "FORMATS",
    "QTensor",
    "WeightFileError",
    "Weights",
    "from_bytes",
    "linear",
    "load_gguf",
    "load_safetensors",
    "matmul",
    "matvec",
    "moe_matmul",
    "moe_matvec",
    "quantize",
    "take_rows",
]
