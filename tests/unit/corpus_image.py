"""Kernels of tg.image that the package can make."""

from __future__ import annotations

from collections.abc import Iterator

from tabgpu import codegen_stencil
from tabgpu.dtypes import ALL

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
