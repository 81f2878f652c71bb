"""The text of warp.wgsl for each order, rank, dtype and kind of places."""

from __future__ import annotations

from typing import NamedTuple

from . import codegen, kernels
from .codegen_stencil import load
from .dtypes import DType
from .kernels import warp_functions


class Form(NamedTuple):
    """Everything a text depends on."""

    order: int  # 0 to 5
    rank: int  # 1 to 3
    source: DType
    workgroup: int
    given: bool  # an array says the places


_PLACES = "@group(0) @binding(1) var<storage, read> places: array<u32>;\n"


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    body = kernels.rewrite(kernels.read("warp"), {"WG": sig.workgroup, "RANK": sig.rank, "ORDER": sig.order})
    body = load(body, sig.source)
    made = warp_functions.weights(sig.order)
    odd = sig.order % 2
    body = kernels.replace_block(body, "odd", made if odd else "")
    body = kernels.replace_block(body, "even", "" if odd else made)
    if sig.order > 3:
        body += warp_functions.POW4
    if not sig.given:
        return codegen.with_library(body), "rw"
    body = kernels.replace_block(body, "place", warp_functions.GIVEN)
    body = body.replace("@binding(1) var<storage, read_write>", "@binding(2) var<storage, read_write>")
    return codegen.with_library(body + _PLACES), "rrw"
