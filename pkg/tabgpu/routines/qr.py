"""Householder QR of stacks of matrices: panels of columns, each by a tree of blocks of rows; then Q from the
reflectors.

A panel of NB columns is cut into blocks of ROWS rows, each factored by one workgroup; the triangles of ROWS / NB
blocks are a block of the next level, until one is left. Launches grow with columns / NB and the logarithm of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Op
from ..kernels.reflector_functions import text
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch, temporary
from .beside_eye import beside_eye

NB = 16
SHARED = 30 << 10  # bytes of workgroup memory that the larger blocks take


class Form(NamedTuple):
    """The sizes of a launch's workgroups. columns: of a tile that reflectors are applied to."""

    rows: int
    columns: int
    threads: int


class Level(NamedTuple):
    """One level of a panel's tree."""

    column: int  # first row and column of the panel
    width: int
    blocks: int
    hop: int
    place: int  # of its blocks in a matrix's memory of vectors


def form_of(kind: str, facts: Facts) -> Form:
    """For elements of a kind on a device."""
    if facts.software:
        return Form(64, 16, 16)  # the fewer threads, the less a barrier costs
    half = 1 if kind == "f" else 2
    large = facts.limits["maxComputeWorkgroupStorageSize"] >= SHARED and facts.workgroup >= 256
    if large:
        return Form(256 // half, 32, 256)
    return Form(128 // half, 32 // half, min(facts.workgroup, 256 // half))


def levels(m: int, k: int, form: Form) -> tuple[list[Level], int]:
    """The levels of all panels in the order in which they are factored, and the elements of a matrix's vectors."""
    found: list[Level] = []
    place = 0
    each = form.rows * NB + NB * NB
    for column in range(0, k, NB):
        blocks, hop = -(-(m - column) // form.rows), 0
        while True:
            found.append(Level(column, min(NB, k - column), blocks, hop, place))
            place += blocks * each
            if blocks == 1:
                break
            hop = form.rows if not hop else hop * (form.rows // NB)
            blocks = -(-blocks // (form.rows // NB))
    return found, place


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: (matrices, m, n, columns of Q). The result is (matrices, m, n + columns of Q): R's triangle, and Q."""
    count, m, n, more = op.extra
    width = n + more
    form = form_of(op.dtype.kind, facts)
    tree, size = levels(m, min(m, n), form)
    vectors = temporary((count * size,), op.dtype)
    launches = [beside_eye(op.args[0], op, m, n, width, facts)]
    panel = _panel(op.dtype.kind, form)
    for level in tree:
        words = [m, width, m * width, level.blocks, level.column, level.width, level.hop, level.place, size]
        total = level.blocks * count
        launches.append(launch(panel, (), (op, vectors), total, [*words, total, 0, 0], facts))
        first = level.column + level.width
        if first < n:
            launches.append(
                _applied(op, vectors, (count, m, width, size), level, (first, n), False, form, facts)
            )
    if more:
        for level in reversed(tree):
            first = n + level.column
            launches.append(
                _applied(op, vectors, (count, m, width, size), level, (first, width), True, form, facts)
            )
    return launches


def _applied(
    d: Op, vectors: Op, sizes: tuple[int, int, int, int], level: Level, columns: tuple[int, int], back: bool,
    form: Form, facts: Facts,
) -> Launch:  # fmt: skip
    count, m, width, size = sizes
    first, end = columns
    tiles = -(-(end - first) // form.columns)
    total = level.blocks * tiles * count
    words = [m, width, m * width, level.blocks, level.column, end - first, level.hop, level.place]
    made = _apply(d.dtype.kind, form, back)
    return launch(made, (vectors,), (d,), total, [*words, size, total, first, tiles], facts)


def _panel(kind: str, form: Form) -> Kernel:
    return kernel_for(("qr_panel", kind, form), panel_text, f"qr_panel_{kind}", form.threads)


def panel_text(key: tuple[str, str, Form]) -> tuple[str, str]:
    name, kind, form = key
    return text(name, kind, {}, WG=form.threads, NB=NB, ROWS=form.rows), "ww"


def _apply(kind: str, form: Form, back: bool) -> Kernel:
    label = f"qr_apply_{kind}{'_back' if back else ''}"
    return kernel_for(("qr_apply", kind, form, back), apply_text, label, form.threads)


def apply_text(key: tuple[str, str, Form, bool]) -> tuple[str, str]:
    name, kind, form, back = key
    params = {"WG": form.threads, "NB": NB, "ROWS": form.rows, "CT": form.columns, "BACK": back}
    loops = {"NB": NB} if form.threads > 16 else {}  # CPU adapters compile long texts slowly
    return text(name, kind, loops, **params), "rw"
