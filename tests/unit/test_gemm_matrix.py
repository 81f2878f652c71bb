"""gemm_matrix.wgsl's block of matrices, carried out in NumPy: no adapter here has matrix units."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tabgpu import kernels
from tabgpu.codegen import VALUE, Region
from tabgpu.dtypes import float32
from tabgpu.kernels.gemm_matrix_inner import gemm_matrix_inner, memory
from tabgpu.kernels.gemm_tiles import MATRIX, UNITS, Side, Units, choose
from tabgpu.lower_product import Walk, kernel_of

LIMITS = {
    "maxComputeInvocationsPerWorkgroup": 1024,
    "maxComputeWorkgroupSizeX": 1024,
    "maxComputeWorkgroupStorageSize": 49152,
}


def in_python(block: str) -> str:
    """The block as Python: threads are elements of arrays, matrices lists with one array a subgroup."""
    lines: list[str] = []
    depth, ends = 0, [""]
    for raw in block.splitlines():
        line = re.sub(r"\b(\d+)u\b", r"\1", raw.strip()).rstrip(";")
        line = re.sub(r"^(let|var) ", "", line).replace("/", "//").replace("min(", "np.minimum(")
        line = re.sub(r"P\[1\]\.(\w)", r"P1['\1']", re.sub(r"P\[2\]\.(\w)", r"P2['\1']", line))
        line = re.sub(
            r"subgroupMatrixLoad<\w+, (\w+)>\(&(\w_tile)\[(\d)\], (.*), (\d+)\)",
            r"load(\2[\3], \4, \5, '\1')",
            line,
        )
        line = re.sub(
            r"subgroupMatrixStore<row_major>\(&sums\[(\d)\], (.*), (\w+), 4\)",
            r"store(sums[\1], \2, \3)",
            line,
        )
        line = line.replace("subgroupMatrixMultiplyAccumulate", "multiply").replace("step++", "step += 1")
        pad = "  " * depth
        if line.startswith("if (step > steps)"):
            lines.append(f"{pad}if step > steps: break")
        elif line.startswith("if ("):
            lines.append(f"{pad}if {line[4:-3]}:")
            ends.append("")
            depth += 1
        elif line.startswith("for (; step"):
            lines.append(f"{pad}while step <= steps:")
            ends.append("step += 1")
            depth += 1
        elif line.startswith("for (var e = lane"):
            lines.append(f"{pad}for e in (lane, lane + 32):")
            ends.append("")
            depth += 1
        elif line == "{":
            lines.append(f"{pad}if True:")
            ends.append("")
            depth += 1
        elif line == "}":
            if end := ends.pop():
                lines.append(pad + end)
            depth -= 1
        elif not line.startswith("workgroupBarrier"):
            lines.append(pad + line)
    assert depth == 0
    return "\n".join(lines)


def tile_of(
    units: Units, a: Any, b: Any, at: tuple[int, int], turned: tuple[bool, bool], skew: tuple[int, int]
) -> Any:
    """What a workgroup stores: sums by their index in C. Operands are float16 matrices, `turned` stored transposed."""
    (m, k), n = a.shape, b.shape[1]
    head, block = gemm_matrix_inner(
        units.bm, units.bn, units.bk, units.sm, units.sn, units.depth, not turned[0], turned[1]
    )
    sizes = {
        name: int(size) for name, size in re.findall(r"var<workgroup> (\w+): array<array<\w+, (\d+)>", head)
    }
    held = []
    for x, t, first in zip((a, b), turned, skew, strict=True):
        line = np.ascontiguousarray(x.T if t else x).reshape(-1)
        held.append(np.concatenate([np.full(first, np.nan, np.float16), line]).reshape(-1, 8))
    li = np.arange(units.threads)
    stored: dict[int, np.ndarray] = {}

    def each(value: Any) -> Any:
        """A value of each subgroup, of whose threads all must agree."""
        table = np.broadcast_to(value, li.shape).reshape(-1, 32)
        assert (table == table[:, :1]).all()
        return table[:, 0]

    def load(tile: Any, offset: Any, stride: int, order: str) -> list[Any]:
        found = []
        for first in each(offset):
            rows = np.stack(
                [tile[first + r * stride : first + r * stride + 2].reshape(-1) for r in range(16)]
            )
            found.append(rows.T if order == "col_major" else rows)
        return found

    def multiply(left: list[Any], right: list[Any], sums: list[Any]) -> list[Any]:
        return [s + x.astype(float) @ y.astype(float) for x, y, s in zip(left, right, sums, strict=True)]

    def store(place: Any, offset: Any, values: list[Any]) -> None:
        for first, value in zip(each(offset), values, strict=True):
            place[first : first + 64] = value.reshape(64, 4)

    def emit4(values: Any, where: Any) -> None:
        for value, i in zip(values, where, strict=True):
            stored[int(i)] = value

    scope: dict[str, Any] = {
        "np": np, "li": li, "a": held[0], "b": held[1], "k": k, "n": n, "row": at[0], "col": at[1],
        "a0": skew[0], "b0": skew[1], "c0": at[0] * n + at[1],
        "P1": {"y": 1 if turned[0] else k, "z": m if turned[0] else 1},
        "P2": {"y": 1 if turned[1] else n, "z": k if turned[1] else 1},
        "load": load, "multiply": multiply, "store": store, "emit4": emit4,
        "Sum": lambda: [np.zeros((16, 16)) for _ in range(units.threads // 32)],
        "sums": np.full((2, sizes["sums"], 4), np.nan),
    }  # fmt: skip
    for name in ("a_tile", "b_tile"):
        scope[name] = np.full((units.depth, sizes[name], 8), np.nan, np.float16)
    exec(in_python(block), scope)
    return stored


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize(
    "units", [*UNITS, Units(64, 96, 32, 32, 48, 2), Units(32, 64, 16, 32, 16, 1)], ids=str
)
def test_a_tile_is_what_the_matrices_say(units: Units, turned: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(1)
    m, n, k = units.bm + 8, units.bn + 16, 3 * units.bk
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    at = 8, 16
    stored = tile_of(units, a, b, at, turned, (16, 8))
    want = a.astype(np.float64) @ b.astype(np.float64)
    assert len(stored) == units.bm * units.bn // 4
    for i, value in stored.items():
        row, col = divmod(i, n)
        assert at[0] <= row < at[0] + units.bm and at[1] <= col < at[1] + units.bn
        assert np.abs(value - want[row, col : col + 4]).max() < 1e-5


def sides(m: int, n: int, k: int, dtype: str = "float16") -> tuple[Side, Side]:
    return Side((0, 0, 0, k, 1), 0, dtype), Side((0, 0, 0, n, 1), 0, dtype)


def test_matrix_units_only_where_they_can_be_used() -> None:
    def kernel(m: int, n: int, k: int, features: frozenset[str] = MATRIX, dtype: str = "float16") -> str:
        return choose(m, n, k, 1, *sides(m, n, k, dtype), LIMITS, False, features=features).kernel

    assert kernel(4096, 4096, 4096) == "gemm_matrix"
    for feature in MATRIX:
        assert kernel(4096, 4096, 4096, MATRIX - {feature}) == "gemm"
    assert kernel(4096, 4096, 4096, dtype="bfloat16") == kernel(4096, 4096, 4096, dtype="") == "gemm"
    assert kernel(4096, 4096, 4095) == kernel(4096, 4095, 4096) == kernel(4096, 4096, 4112) == "gemm"
    assert kernel(4095, 4104, 4096) == "gemm_matrix"
    assert kernel(2, 4096, 4096) == "gemv"
    a, b = sides(4096, 4096, 4096)
    assert (
        choose(4096, 4096, 4096, 1, a._replace(offset=4), b, LIMITS, False, features=MATRIX).kernel == "gemm"
    )


def test_the_text_has_its_directives_first_and_its_epilogue() -> None:
    choice = choose(512, 512, 512, 1, *sides(512, 512, 512), LIMITS, False, features=MATRIX)
    walks = [Walk(0, s.strides, s.dtype) for s in sides(512, 512, 512)]
    kernel = kernel_of(choice, "f", *walks, Region((), (), ((VALUE, float32),), 0), 0, 0)
    lines = [line for line in kernel.code.splitlines() if line]
    assert [line.split()[0] for line in lines[:4]] == ["enable"] * 3 + ["diagnostic(off,"]
    assert "enable" not in " ".join(lines[4:]) and "w0[" in kernel.code and kernel.access == "rrw"
    assert kernels.specialise("gemm_matrix").count("unpack2x16float") == 1


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_workgroup_memory_is_what_the_text_declares(units: Units) -> None:
    assert units.memory <= 32768 and units.bk % 16 == units.sm % 16 == units.sn % 16 == 0
    for a_along_k in (False, True):
        for b_along_k in (False, True):
            head, _ = gemm_matrix_inner(
                units.bm, units.bn, units.bk, units.sm, units.sn, units.depth, a_along_k, b_along_k
            )
            found = re.findall(r"array<array<\w+, (\d+)>, (\d+)>", head)
            assert sum(16 * int(x) * int(y) for x, y in found) <= units.memory
    assert units.memory == memory(units.bm, units.bn, units.bk, units.sm, units.sn, units.depth)
