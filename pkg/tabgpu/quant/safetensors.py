"""safetensors files: a JSON header and the tensors behind it."""

from __future__ import annotations

import json
import re
from math import prod
from typing import Any

from ..dtypes import ALL, DType
from .files import Entry, Progress, Source, WeightFileError, Weights, host, load, wanted

_NAMES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "F16": "float16", "BF16": "bfloat16", "F32": "float32", "C64": "complex64", "I64": "int64", "U64": "uint64",
    "F64": "float64",
}  # fmt: skip
_KINDS: dict[str, DType | str] = {k: ALL[n] if ALL[n].available else n for k, n in _NAMES.items()}
DEEPEST = 16  # objects and lists within one another
_MARK = re.compile(r'"(?:[^"\\]+|\\.)*"?|[][{}]', re.S)
LONGEST = 100_000_000  # bytes of a header, as the format's own readers have it


async def load_safetensors(
    source: Any, *, names: Any = None, progress: Progress | bool | None = None
) -> Weights:
    """The tensors of a safetensors file as Arrays by name, streamed to the GPU.

    source, names, progress and errors as in load_gguf. 64-bit values become 32-bit ones: integers that do not fit raise
    WeightFileError. `weights.metadata` is the file's own.
    """
    file = source if isinstance(source, Source) else Source(source)
    start = host(await file.exactly(0, 8, "the length of its header"))
    n = int.from_bytes(start, "little")
    if n > LONGEST or (file.size is not None and 8 + n > file.size):
        raise WeightFileError(
            f"{file.name} is truncated or no safetensors file: it says its header has {n:,} bytes"
        )
    text = host(await file.exactly(8, n, "its header"))
    try:
        header = json.loads(_shallow(text.decode()))
    except ValueError as error:
        raise WeightFileError(
            f"{file.name} is no safetensors file: its header is no JSON ({error})"
        ) from None
    if not isinstance(header, dict):
        raise WeightFileError(f"{file.name} is no safetensors file: its header is no object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise WeightFileError(f"{file.name}: __metadata__ is no object")
    asked = wanted([_entry(file, name, one, 8 + n) for name, one in header.items()], names, file)
    for e in asked:
        if header[e.name]["dtype"] not in _KINDS:
            raise WeightFileError(
                f"{file.name}: tensor {e.name!r} has dtype {e.kind}, which is not known here"
            )
    return await load(file, asked, metadata, progress)


def _shallow(text: str) -> str:
    """The text; ValueError where it nests deeper than any header: a tab's Python does not survive json's recursion."""
    depth = 0
    for mark in _MARK.finditer(text):
        depth += (mark[0] in "[{") - (mark[0] in "]}")
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} levels at character {mark.start():,}")
    return text


def _entry(file: Source, name: str, one: Any, begin: int) -> Entry:
    try:
        kind, shape = one["dtype"], tuple(one["shape"])
        first, end = one["data_offsets"]
    except (KeyError, TypeError, ValueError):
        kind, shape, first, end = "", (), -1, -1
    numbers = (*shape, first, end)
    if not isinstance(kind, str) or any(type(k) is not int or not 0 <= k < 1 << 60 for k in numbers):
        raise WeightFileError(f"{file.name}: tensor {name!r} is described as {one!r}")
    known = _KINDS.get(kind, kind)
    size = 8 if isinstance(known, str) else known.itemsize
    if kind in _KINDS and end - first != prod(shape) * size:
        raise WeightFileError(
            f"{file.name}: tensor {name!r} of {kind} and shape {shape} is said to lie from {first:,} to {end:,}"
        )
    return Entry(name, known, shape, begin + first, end - first)
