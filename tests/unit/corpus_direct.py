"""Kernels of direct methods: every form, block and tile that an adapter may take."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu import kernels
from tabgpu.kernels.elimination import text
from tabgpu.routines.residual import residual_text


def direct() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for kind, software in itertools.product("fc", (False, True)):
        most = (16 if software else 32) // (2 if kind == "c" else 1)
        for size in (most, 64) if software else (most, 128):
            label = f"cholesky_panel {kind} {most} {size}"
            yield label, text("cholesky_panel", kind, K=most, NT=size), "rw"
        for solve, lu, step in (
            (False, False, 1),
            (True, False, 0),
            (True, False, 1),
            (True, True, 0),
            (True, True, 1),
        ):
            if software:
                made = text("eliminate_serial", kind, SOLVE=solve, LU=lu, STEP=step)
                yield (
                    f"eliminate_serial {kind} {solve} {lu} {step}",
                    made,
                    "wwww" if lu else "rww" if solve else "rw",
                )
        for mode, lanes in itertools.product((0, 1, 2), (1,) if software else (4, 64)):
            made = text(
                "eliminate_small", kind, MODE=mode, WG=64, LANES=lanes, ROOM=2048 if kind == "f" else 1024
            )
            yield f"eliminate_small {kind} {mode} {lanes}", made, "rrww" if lanes == 1 else "rrw"
        for wide in () if software else (16, 32, 64)[: 3 if kind == "f" else 2]:
            for solve, lu in ((False, False), (True, False), (True, True)):
                depth = min(most, 16) if lu else most
                made = text("eliminate", kind, K=depth, BN=wide, SOLVE=solve, LU=lu)
                yield (
                    f"eliminate {kind} {depth} {wide} {solve} {lu}",
                    made,
                    "wwww" if lu else "rww" if solve else "rw",
                )
        for subgroups in (False,) if software else (False, True):
            size = 16 if software else 1024 if subgroups else 128
            made = text("lu_panel", kind, subgroups, K=min(most, 16), WG=size)
            yield f"lu_panel {kind} {size}", made, "www"
        for step in (0, 1, 2):
            yield f"lu_ends {kind} {step}", text("lu_ends", kind, WG=256, STEP=step), "www"
    for software in (False, True):
        yield f"residual {software}", *residual_text(("residual", software))
    for name in ("permute_rows", "pivot_order"):
        yield name, kernels.specialise(name, WG=64), "rrw" if name[1] == "e" else "rw"
