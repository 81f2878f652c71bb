"""Kernels of tg.image that the package can make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu import codegen_components, codegen_neighbours, codegen_stencil, codegen_warp
from tabgpu.dtypes import ALL
from tabgpu.routines.neighbours import SIDES

KINDS = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bool")


def image() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for k, kind in enumerate(KINDS):
        for name in ("square", "lines", "columns", "serial") if k < 2 else ("square", "serial"):
            sizes = (64, 128) if name in ("square", "lines") else (64,)
            for size in sizes:
                for vector in (False, True) if name in ("square", "lines") and not k else (False,):
                    form = codegen_stencil.Form(name, ALL[kind], size, vector)
                    yield f"stencil {form}", *codegen_stencil.text(form)
    for k, kind in enumerate(KINDS):
        for name in ("min", "max", "rank"):
            rank = 1 + k % 3
            for masked, raised in ((False, False), (True, False), (True, True)):
                if name == "rank" and raised or kind == "bool" and raised:
                    continue
                made = codegen_neighbours.Form(name, ALL[kind], rank, 256, masked, raised)
                yield f"neighbours {made}", *codegen_neighbours.text(made)
    for (side, rank), kind in itertools.product(SIDES, ("float32", "uint8", "int32")):
        made = codegen_neighbours.Form("rank", ALL[kind], rank, 256, False, False, side)
        yield f"neighbours {made}", *codegen_neighbours.text(made)
    for phase in codegen_components.PHASES:
        sig = ("components", phase, ALL["bool"], 256)
        yield f"{sig}", *codegen_components.components(sig)
    for order, rank in itertools.product(range(6), (1, 2, 3)):
        for given in (False, True):
            warp = codegen_warp.Form(order, rank, ALL[KINDS[(order + rank) % len(KINDS)]], 256, given)
            yield f"warp {warp}", *codegen_warp.text(warp)
    for metric, floats in (
        ("euclidean", False),
        ("euclidean", True),
        ("taxicab", False),
        ("chessboard", False),
    ):
        key = ("distance", metric, floats, 256)
        yield f"{key}", *codegen_components.distance(key)
