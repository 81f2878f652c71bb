"""Kernel, Launch and Slot: what the planner hands to the device. Frozen data, no methods."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Op


class Slot:
    """A parameter word that is not known yet: scalar number `index`, as kind f i u b, or c (its `part` 0 or 1)."""

    __slots__ = ("index", "kind", "part")

    def __init__(self, index: int, kind: str, part: int = 0) -> None:
        self.index, self.kind, self.part = index, kind, part


class Kernel:
    """One pipeline's worth of WGSL. `access` has one letter a binding: r read-only, w written."""

    __slots__ = ("access", "code", "label", "used", "workgroup")

    def __init__(self, label: str, code: str, access: str, workgroup: int) -> None:
        self.label, self.code, self.access, self.workgroup = label, code, access, workgroup
        self.used = 0  # the submit that used it last, but for programs


class Launch(NamedTuple):
    """One dispatch: `reads` then `writes` are bound in the order of kernel.access; words are the uniform parameters."""

    kernel: Kernel
    reads: tuple[Op, ...]
    writes: tuple[Op, ...]
    grid: tuple[int, int, int]
    words: list[int]
    windows: tuple[tuple[int, int], ...] | None = None  # (byte offset, size) a binding, None: whole buffers
    adopts: Op | None = None  # whose memory the first of `writes` takes over: nobody else has it
