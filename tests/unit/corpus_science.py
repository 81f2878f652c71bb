"""Kernels of moments, polynomials and interpolation that the package can make, in every variant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu.kernels import piecewise_functions
from tabgpu.routines import moments, polynomials


def science() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for kind in piecewise_functions.VALUES:
        yield f"piecewise {kind}", *piecewise_functions.text(("piecewise", kind, 256))
    for lanes, merge in itertools.product((1, 2, 8, 256), (False, True)):
        yield f"moments {lanes} {merge}", *moments._text(("moments", 256, lanes, merge))
    for name, access in (("horner", "rrw"), ("long_division", "rrw"), ("from_roots", "rw")):
        for kind in "fc":
            yield f"{name} {kind}", *polynomials._text((name, kind, 256, access))
