"""Kernels of signals that the package can make: sums of neighbours, recursive filters and what they carry."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu import kernels
from tabgpu.kernels import fir_functions, iir_functions


def signals() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for name, kind in itertools.product(("fir", "upfirdn"), "fiuc"):
        yield f"{name} {kind}", *fir_functions.text((name, kind, 256))
    for sections, ends in itertools.product((False, True), (False, True)):
        for count in iir_functions.SECTIONS if sections else iir_functions.ORDERS:
            form = iir_functions.Form(sections, count, ends, 64)
            yield f"iir {form}", *iir_functions.text(form)
    for k in range(4):
        yield f"peaks_distance {k}", kernels.specialise("peaks_distance", STEP=k), "rrrrww"
    for many, up in itertools.product((1, 2, 4, 6, 8, 12, 16, 24), (False, True)):
        yield f"iir_carry {many} {up}", *iir_functions.carry_text(("iir_carry", many, up, 64))
