"""Kernels of eigenvalues (real and complex elements, workgroups of each size) and of orders of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from tabgpu import kernels
from tabgpu.routines import eigen


def eigenvalues() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for name, access in (("hessenberg", "rwww"), ("schur", "www"), ("schur_finish", "rrrw")):
        for wide in (False, True):
            for wg in (64,) if name == "schur_finish" else (32, 256):
                key = (name, access, wide, wg)
                yield f"{key}", *eigen.text(key)
    yield "triangle_vectors", kernels.specialise("triangle_vectors", WG=64), "rw"
    yield "triangle_root", kernels.specialise("triangle_root", WG=64), "rw"
    yield "rcm", kernels.specialise("rcm", WG=256), "rww"
