"""Kernels of windows that the package can make: pools, resizes, folds, and rows with a weight a channel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu import codegen_pool, codegen_resize, codegen_rows, codegen_windows
from tabgpu.dtypes import ALL
from tabgpu.kernels import pool_functions, resize_functions
from tabgpu.routines import sample

FLOATS = ("float32", "float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")


def ranks(kinds: tuple[str, ...]) -> list[tuple[str, int]]:
    """Each number of axes with the first kind, the others with one."""
    return [(kinds[0], rank) for rank in (1, 2, 3)] + [(kind, 1 + k % 3) for k, kind in enumerate(kinds[1:])]


def windows() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for name, shared in itertools.product(pool_functions.NAMES, (False, True)):
        for kind, rank in ranks((*FLOATS, *INTEGERS) if name in ("max", "argmax") else FLOATS):
            target = ALL["uint32" if name == "argmax" else kind]
            form = codegen_pool.Form(name, ALL[kind], target, rank, 256, shared)
            yield f"pool {form}", *codegen_pool.text(form)
    for name, rank, kind in itertools.product(("max", "argmax"), (2, 3), ("float32", "int8")):
        target = ALL["uint32" if name == "argmax" else kind]
        form = codegen_pool.Form(name, ALL[kind], target, rank, 256, False, True)
        yield f"pool {form}", *codegen_pool.text(form)
    for name in resize_functions.NAMES:
        for kind, rank in ranks(("uint32", "uint8", "uint16") if name == "nearest" else FLOATS):
            made = codegen_resize.Form(name, ALL[kind], rank, 256)
            yield f"resize {made}", *codegen_resize.text(made)
    for unfolds in (True, False):
        for kind, rank in ranks(("uint32", "uint8", "uint16") if unfolds else (*FLOATS, *INTEGERS)):
            sig = ("fold", unfolds, ALL[kind], rank, 256)
            yield f"{sig}", *codegen_windows.fold(sig)
    for taps, rank, kind in itertools.product(sample.TAPS.values(), (2, 3), FLOATS):
        key = ("sample", taps, ALL[kind], rank, 256)
        yield f"{key}", *codegen_windows.sample(key)
    for phase, vector, one, kind in itertools.product(
        ("whole", "apply"), (True, False), (True, False), FLOATS
    ):
        way = (64, 1, 0) if one else (256, 32, 4)
        target = ALL[kind if vector else "float32"]
        row = codegen_rows.Form(
            "layer_norm", phase, *way, False, vector, ALL[kind], target, True, True, False, not one, True
        )
        yield f"rows {row}", *codegen_rows.text(row)
