"""Kernel and Launch: what the planner hands to the device. Frozen data, no methods."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Op


class Kernel:
    """One pipeline's worth of WGSL. `access` has one letter a binding: r read-only, w written."""

    __slots__ = ("access", "code", "label", "workgroup")

    def __init__(self, label: str, code: str, access: str, workgroup: int) -> None:
        self.label, self.code, self.access, self.workgroup = label, code, access, workgroup


class Launch(NamedTuple):
    """One dispatch: `reads` then `writes` are bound in the order of kernel.access; words are the uniform parameters."""

    kernel: Kernel
    reads: tuple[Op, ...]
    writes: tuple[Op, ...]
    grid: tuple[int, int, int]
    words: list[int]
    windows: tuple[tuple[int, int], ...] | None = None  # (byte offset, size) a binding, None: whole buffers
    adopts: Op | None = None  # whose memory the first of `writes` takes over: nobody else has it
