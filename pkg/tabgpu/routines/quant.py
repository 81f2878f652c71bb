"""Quantised weights: launches that decode rows, and products of a vector with a matrix or with some of a bank."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import LimitError
from ..formats import FORMATS
from ..graph import Op, nbytes_of
from ..kernels import quant_forms
from ..launch import Kernel, Launch
from ..lower_wide import window
from ..region import U32, Facts, grid, kernel_for
from . import launch
from .quant_encode import encode

STAGE = 32  # blocks of x in workgroup memory


class Rows(NamedTuple):
    """Rows of k weights each, from weight `first` of args[0] on."""

    format: str
    first: int
    rows: int
    k: int


class Matrices(NamedTuple):
    """A bank of (n, k) matrices from weight `first` of args[0] on, and one vector for each slot."""

    format: str
    first: int
    bank: int
    n: int
    k: int
    slots: int


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: quant.dequantize (args: bytes), quant.rows (bytes, ids), quant.matvec (bytes, x), quant.bank (bytes, x,
    ids), quant.encode (x), quant.experts (x, bytes, an expert for each tile of rows); extra: Rows, Matrices, or what
    quant_encode and _experts take."""
    what = op.fn.partition(".")[2]
    if what == "experts":
        return _experts(op, facts)
    if what == "encode":
        return encode(op, facts)
    if what in ("matvec", "bank"):
        return _matvec(op, Matrices(*op.extra), facts)
    return _rows(op, Rows(*op.extra), facts)


def _start(name: str, first: int, k: int) -> tuple[int, int]:
    """(first byte, bytes a row)."""
    f = FORMATS[name]
    return first // f.block * f.nbytes, k // f.block * f.nbytes


def _rows(op: Op, job: Rows, facts: Facts) -> list[Launch]:
    gather = len(op.args) > 1
    wg = facts.workgroup
    key = ("quant_dequantize", job.format, gather, wg)
    label = f"quant_{'rows' if gather else 'dequantize'}_{job.format}"
    kernel = kernel_for(key, lambda _: quant_forms.dequantize(job.format, gather, wg), label, 0)
    begin, each = _start(job.format, job.first, job.k)
    quads = op.size // 4
    if gather or not _too_wide(op.args[0], op, facts):
        words = [quads, job.k // 4, each, begin, job.rows, 0, 0, 0]
        return [launch(kernel, op.args, (op,), -(-quads // wg), words, facts)]
    made = []
    step = _rows_that_fit(each, job.k * 4, facts, kernel)
    for at in range(0, job.rows, step):
        some = min(step, job.rows - at)
        low = begin + at * each
        source = window(op.args[0], low, low + some * each - 1)
        target = window(op, at * job.k, (at + some) * job.k - 1)
        count = some * job.k // 4
        first = (at * job.k - target[0] // 4) // 4
        words = [count, job.k // 4, each, low - source[0], some, first & U32, 0, 0]
        groups = grid(-(-count // wg), facts.groups)
        made.append(Launch(kernel, op.args, (op,), groups, words, (source, target)))
    return made


def _too_wide(source: Op, out: Op, facts: Facts) -> bool:
    return max(nbytes_of(source), nbytes_of(out)) + 16 > facts.binding


def _rows_that_fit(each: int, more: int, facts: Facts, kernel: Kernel) -> int:
    """Rows whose bytes, and `more` bytes of result each, fit windows."""
    rows = (facts.binding - 512) // max(each, more)
    if not rows:
        raise LimitError(
            f"{kernel.label}: a row of {max(each, more):,} bytes is larger than the device's storage binding limit "
            f"of {facts.binding:,} bytes"
        )
    return rows


def _matvec(op: Op, job: Matrices, facts: Facts) -> list[Launch]:
    bank = len(op.args) > 2
    begin, each = _start(job.format, job.first, job.k)
    units = job.k // 16
    wg, lanes, outs = share(job.n * job.slots, units, facts)
    params = {"WG": wg, "LANES": lanes, "OUTS": outs}
    if lanes == 32 and wg > lanes and outs == 4 and FORMATS[job.format].block == 32:
        params["STAGE"] = STAGE
    key = ("quant_matvec", job.format, bank, *params.values())
    label = f"quant_{'bank' if bank else 'matvec'}_{job.format}"
    kernel = kernel_for(key, lambda _: quant_forms.matvec(job.format, bank, params), label, 0)
    per = wg // lanes * outs
    if bank or nbytes_of(op.args[0]) + 16 <= facts.binding:
        words = [job.n, units, each, begin, job.slots, job.bank, 0, job.n]
        return [launch(kernel, op.args, (op,), -(-job.n // per) * job.slots, words, facts)]
    made = []
    step = _rows_that_fit(each, 4, facts, kernel)
    for at in range(0, job.n, step):
        end = min(at + step, job.n)
        source = window(op.args[0], begin + at * each, begin + end * each - 1)
        words = [job.n, units, each, (begin - source[0]) & U32, job.slots, job.bank, at, end]
        groups = grid(-(-(end - at) // per) * job.slots, facts.groups)
        whole = [(0, 0)] * 2
        made.append(Launch(kernel, op.args, (op,), groups, words, (source, *whole)))
    return made


def share(rows: int, units: int, facts: Facts) -> tuple[int, int, int]:
    """(threads, lanes a row, rows a thread): four rows share what is read of x where that leaves a GPU busy."""
    if facts.software:
        return min(64, facts.workgroup), 1, 1
    wg = min(128, facts.workgroup)
    lanes = 32 if rows >= 1024 else wg
    lanes = next((x for x in (8, 32) if units <= x), lanes)
    return wg, min(lanes, wg), 4 if rows >= 4096 else 1


def _experts(op: Op, facts: Facts) -> list[Launch]:
    """A batch of products, tile by tile of x; each takes its matrix from the bank. extra: (format, first weight, n, k,
    rows of a tile, tiles)."""
    from ..codegen import VALUE, Region
    from ..codegen_product import Product, product
    from ..lower_product import Walk, chosen

    name, first, n, k, rows, tiles = op.extra
    a = Walk(0, (0, 0, rows * k, k, 1), "float32")
    b = Walk(first, (0, 0, n * k, 1, k), f"quant.{name}")
    choice, words = chosen((rows, n, k), (1, 1, tiles), a, b, facts, cut=False)
    region = Region((), (), ((VALUE, op.dtype),), 0)
    params, unroll = tuple(choice.params.items()), tuple(choice.unroll.items())
    sig = Product(choice.kernel, "f", ("", name), params, unroll, region, 0, 1)

    def text(sig: Product) -> tuple[str, str]:
        whole, access = product(sig)
        parts = whole.split("d.z * P[4].z")  # the batch's matrix
        assert len(parts) == 2, "gemm and gemv find B in one line"
        return "b2[d.z] * P[4].z".join(parts), access

    kernel = kernel_for(
        ("quant_experts", sig), lambda key: text(key[1]), f"quant_experts_{name}_{choice.name}", 0
    )
    return [launch(kernel, op.args, (op,), choice.groups, words, facts)]
