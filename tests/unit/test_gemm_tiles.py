"""The chooser of products: limits, alignment, coverage, a finite list and the tuner's hook; no browser."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tabgpu.kernels import gemm_tiles, read, replace_block, rewrite
from tabgpu.kernels.gemm_inner import gemm_inner
from tabgpu.kernels.gemm_tiles import (
    LONG_K,
    PLANS,
    TILES,
    Choice,
    Side,
    Tile,
    Units,
    candidates,
    choose,
    overrides,
    size_class,
)  # fmt: skip
from tabgpu.kernels.gemv_inner import declarations, gemv_inner

SIZES = [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65, 128, 500, 513, 1024, 4096]
LARGE = {
    "maxComputeInvocationsPerWorkgroup": 1024,
    "maxComputeWorkgroupSizeX": 1024,
    "maxComputeWorkgroupStorageSize": 49152,
}


def plain(
    m: int,
    n: int,
    k: int,
    batch: int = 1,
    *,
    software: bool = False,
    offsets: tuple[int, int] = (0, 0),
    a: Any = None,
    b: Any = None,
    dtype: str = "",
    limits: dict[str, int] | None = None,
    **more: Any,
) -> Choice:
    sides = Side(a or (m * k, k, 1), offsets[0], dtype), Side(b or (k * n, n, 1), offsets[1], dtype)
    return choose(m, n, k, batch, *sides, limits or {}, software, **more)


def threads(c: Choice) -> int:
    p = c.params
    if c.kernel == "gemm":
        return p["BM"] // p["TM"] * (p["BN"] // p["TN"]) * p["SLICES"]
    return p["NT"]


def memory(c: Choice) -> int:
    p = c.params
    if c.kernel == "gemm":
        return 4 * p["BK"] * (p["BM"] + p["BN"] + p["PAD"])
    text = declarations(*(c.unroll[key] for key in ("nt", "lanes", "outs", "vecs", "along_k")))
    if not text:
        return 0
    sizes = text.rsplit(",", 2)
    return int(sizes[1].strip(" >")) * int(sizes[2].strip(" >;\n")) * (16 if "vec4" in text else 4)


@pytest.mark.parametrize("tile", TILES, ids=lambda t: t.name)
def test_every_tile_is_a_grid_of_rectangles(tile: Tile) -> None:
    assert tile.threads <= 256 and tile.memory <= 24576
    assert all(v % 4 == 0 for v in (tile.bm, tile.bn, tile.bk, tile.tm, tile.tn))
    assert tile.bm % tile.tm == 0 and tile.bn % tile.tn == 0 and tile.bk % (4 * tile.slices) == 0
    # 32 consecutive threads form a rectangle of lx columns, and whole rectangles fill the grid of threads.
    assert 32 % tile.lx == 0 and (tile.bn // tile.tn) % tile.lx == 0
    rows = tile.bm // tile.tm
    assert rows % (32 // tile.lx) == 0 or tile.threads // tile.slices < 32


def test_names_are_unique() -> None:
    assert len(PLANS) == len(TILES) + len(gemm_tiles.VECTORS) + len(gemm_tiles.UNITS)
    assert all(plan.name == name for name, plan in PLANS.items())


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize(
    "invocations, size", [(1024, 49152), (256, 16384), (128, 16384), (64, 8192), (16, 2048)]
)
def test_limits_are_kept(software: bool, invocations: int, size: int) -> None:  # G16
    limits = {"maxComputeInvocationsPerWorkgroup": invocations, "maxComputeWorkgroupStorageSize": size}
    for m, n in itertools.product(SIZES, SIZES):
        choice = plain(m, n, 64, software=software, limits=limits)
        assert threads(choice) <= invocations, choice.name
        assert memory(choice) <= size, choice.name


def test_no_tile_fits() -> None:
    with pytest.raises(ValueError, match="8 invocations"):
        plain(5, 5, 5, limits={"maxComputeInvocationsPerWorkgroup": 8})


def test_workgroups_cover_the_product() -> None:
    for m, n, batch, k in itertools.product(SIZES, SIZES, (1, 3), (20, 5000, 100_001)):
        c = plain(m, n, k, batch)
        assert c.groups % (batch * c.pieces) == 0
        p = c.params
        if c.kernel == "gemm":
            covered = -(-m // p["BM"]) * -(-n // p["BN"])
        else:
            assert min(m, n) <= p["VECS"]
            across = p["NT"] // p["LANES"]
            per = across * p["OUTS"] if p["ALONG_K"] else 4 * across
            covered = -(-(m if p["MATRIX_A"] else n) // per)
        assert c.groups == covered * batch * c.pieces
        assert c.piece % 4 == 0 and c.piece * (c.pieces - 1) < k <= c.piece * c.pieces
        assert c.piece <= LONG_K + 64 or m * n * batch > 1 << 22


def test_k_is_cut_where_few_workgroups_have_much_to_do() -> None:
    assert plain(64, 64, 1 << 18).pieces > 8 and plain(1, 1, 1 << 22).pieces > 8
    assert plain(64, 64, 1 << 18, cut=False).pieces == 1
    assert plain(4096, 4096, 4096).pieces == plain(1, 4096, 4096).pieces == plain(4096, 1, 4096).pieces == 1
    assert plain(5, 5, 300).pieces == 1 and plain(64, 64, 1 << 14, software=True).pieces == 1


def shapes() -> Iterator[tuple[Any, ...]]:
    for i in range(500):
        m, n, k = 1 + 37 * i % 4000, 1 + 53 * i % 3000, 1 + 11 * i % 700
        a = [(m * k, k, 1), (m * k, 1, m), (0, k + i % 9, 1), (m * k, 2 * k, 2)][i % 4]
        b = [(k * n, n, 1), (k * n, 1, k), (0, n + i % 7, 1)][i % 3]
        yield m, n, k, 1 + i % 3, a, b, (i % 5, i % 6)


def test_the_list_of_variants_is_finite() -> None:
    """500 shapes, strides and offsets give few texts; three ways for each operand, and whether rows are whole vec4s."""
    seen = {}
    for m, n, k, batch, a, b, offsets in shapes():
        c = plain(m, n, k, batch, offsets=offsets, a=a, b=b)
        seen[(c.kernel, *sorted(c.params.items()), *sorted(c.unroll.items()))] = c.name
    tiles = [name for (kernel, *_), name in seen.items() if kernel == "gemm"]
    assert 3 < len(tiles) <= 9 * 2 * len(TILES)
    assert len(seen) - len(tiles) <= 64


def test_square_products_use_large_tiles_and_vec4() -> None:
    c = plain(4096, 4096, 4096, limits=LARGE)
    assert c.name == "t128x128w_kn" and c.params["A_VEC"] and c.params["B_VEC"]
    assert plain(4096, 4096, 4096, limits=LARGE, b=(1, 4096)).name == "t128x128_kk"
    assert (
        plain(4096, 4096, 4096, limits=LARGE | {"maxComputeWorkgroupStorageSize": 32768}).name
        == "t128x128_kn"
    )
    assert plain(4096, 4096, 4096, limits={"maxComputeInvocationsPerWorkgroup": 64}).name == "t64x64_kn"


@pytest.mark.parametrize(
    "a, b, offsets, k, way",
    [
        ((64, 1), (64, 1), (0, 0), 64, "_kn"),
        ((1, 64), (64, 1), (4, 8), 64, "_mn"),
        ((64, 1), (1, 64), (0, 0), 64, "_kk"),
        ((1, 64), (1, 64), (0, 0), 64, "_mk"),
        ((-64, 1), (64, 1), (4032, 0), 64, "_kn"),  # rows flipped
        ((0, 1), (64, 1), (0, 0), 64, "_kn"),  # broadcast rows
        ((64, 1), (64, 1), (1, 0), 64, "_sn"),  # a slice that starts in the middle of a vec4
        ((64, 1), (64, 1), (0, 2), 64, "_ks"),
        ((65, 1), (64, 1), (0, 0), 64, "_sn"),  # rows that start anywhere
        ((64, 1), (64, 1), (0, 0), 63, "_sn"),  # a vec4 over the end of a row would read the next
        ((64, 1), (64, 1), (3, 3), 63, ""),
        ((64, -1), (64, 1), (63, 0), 64, "_sn"),  # columns flipped
        ((128, 2), (64, 1), (0, 0), 64, "_sn"),
        ((2, 64, 1), (64, 1), (0, 0), 64, "_sn"),  # a batch stride that is no multiple of 4
    ],
)
def test_vec4_loads_only_where_every_vec4_is_aligned(a: Any, b: Any, offsets: Any, k: int, way: str) -> None:
    c = plain(64, 64, k, offsets=offsets, a=a, b=b)
    assert c.name.removeprefix(c.name.partition("_")[0]) == way
    assert c.params["A_VEC"] is (way[1:2] in ("k", "m")) and c.params["B_VEC"] is (way[2:] in ("k", "n"))


def test_halves_are_read_in_place_and_rows_of_whole_vec4s_leave_four_at_a_time() -> None:
    assert plain(512, 512, 512, dtype="bfloat16").name == plain(512, 512, 512).name
    assert plain(512, 512, 512).params["N4"] and not plain(512, 511, 512).params["N4"]
    assert plain(2, 512, 512).params["N4"]
    assert not plain(512, 4, 512).params["N4"]  # a gemv whose threads own a row each


def test_a_cpu_adapter_meets_no_barrier() -> None:
    for m, n in itertools.product(SIZES, SIZES):
        c = plain(m, n, 64, software=True)
        if c.kernel == "gemm":
            assert c.unroll["direct"] and "workgroupBarrier" not in gemm_inner(**c.unroll)
        else:
            assert min(m, n) <= 4 and "workgroupBarrier" not in gemv_inner(**c.unroll)


def test_thin_products_read_their_matrix_once() -> None:
    for m, n, vectors in [(1, 4096, 1), (4096, 1, 1), (2, 900, 2), (3, 900, 4), (900, 7, 8)]:
        c = plain(m, n, 4096)
        assert c.kernel == "gemv" and c.params["VECS"] == vectors and c.params["MATRIX_A"] is (n < m)
    # The threads of an output are neighbours along the axis on which the matrix lies.
    assert not plain(1, 4096, 4096).params["ALONG_K"] and plain(4096, 1, 4096).params["ALONG_K"]
    assert plain(1, 4096, 4096, b=(1, 4096)).params["ALONG_K"]
    assert plain(12, 4096, 4096).name.startswith("t16x32s8") and plain(4096, 12, 4096).name.startswith(
        "t32x16s8"
    )


def test_the_params_are_lines_of_the_file() -> None:
    text = read("gemm")
    for m, n, software in [(4096, 4096, False), (64, 64, False), (5, 5, True), (12, 512, False)]:
        c = plain(m, n, 64, software=software)
        made = replace_block(rewrite(text, {"T": "i32", **c.params}), "unroll", gemm_inner(**c.unroll))
        assert "alias T = i32;" in made and f"const BM = {c.params['BM']}u;" in made
        assert "var sum: array" not in made and "unroll: end" in made


@pytest.mark.parametrize("tile", TILES, ids=lambda t: t.name)
@pytest.mark.parametrize("ahead", [False, True])
def test_the_unrolled_block_has_every_product_once(tile: Tile, ahead: bool) -> None:
    block = gemm_inner(
        tile.bm, tile.bn, tile.bk, tile.tm, tile.tn, slices=tile.slices, pad=tile.pad, ahead=ahead
    )
    lines = [line.strip() for line in block.splitlines()]
    products = [line for line in lines if " += a" in line]
    assert len(products) == tile.bk // tile.slices * tile.tm * tile.tn // 4
    assert len(set(products)) == tile.tm * tile.tn // 4
    passes = -(-(tile.bm + tile.bn) * tile.bk // (16 * tile.threads))
    assert sum(line.startswith("stage(") for line in lines) == passes
    assert block.count("workgroupBarrier();") >= 2 * tile.slices
    assert block.count("{") == block.count("}")


def test_a_tile_that_is_no_multiple_of_four_is_refused() -> None:
    with pytest.raises(ValueError, match="multiples of 4"):
        gemm_inner(18, 16, 16, 2, 4)


# --- the tuner's hook -------------------------------------------------------------------------------------------------


@pytest.fixture
def tuned() -> Iterator[dict[tuple[object, ...], str]]:
    saved = dict(overrides)
    overrides.clear()
    yield overrides
    overrides.clear()
    overrides.update(saved)


@pytest.mark.parametrize(
    "sizes", [(4096, 4096, 4096, 1), (512, 512, 512, 1), (128, 128, 128, 64), (1, 4096, 4096, 1)]
)
def test_every_candidate_can_be_chosen(
    sizes: tuple[int, int, int, int], tuned: dict[tuple[object, ...], str]
) -> None:
    names = candidates(*sizes, LARGE)
    default = plain(*sizes, limits=LARGE)
    assert len(names) == len(set(names)) > 2
    assert names[0].partition("/")[0] == default.name.partition("_")[0]
    for name in names:
        tuned[(False, *size_class(*sizes))] = name
        c = plain(*sizes, limits=LARGE)
        head, _, pieces = name.partition("/")
        assert c.name.partition("_")[0] == head and c.pieces == int(pieces or 1)


def test_what_does_not_fit_is_not_taken(tuned: dict[tuple[object, ...], str]) -> None:
    default = plain(512, 512, 512).name
    for name in ("v1", "x128x128", "t999x999", "no such plan"):
        tuned[(False, *size_class(512, 512, 512, 1))] = name
        assert plain(512, 512, 512).name == default
    tuned[(False, *size_class(512, 512, 512, 1))] = "t128x128"
    assert plain(500, 512, 300, limits=LARGE).name.startswith("t128x128")  # the class of sizes, not the sizes
    assert plain(500, 512, 300, limits={"maxComputeInvocationsPerWorkgroup": 64}).name != "t128x128"
    assert plain(512, 512, 512, software=True).name.startswith("t64x64w")


def test_the_table_names_plans() -> None:
    assert all(isinstance(PLANS[name], Tile) for name, *_ in gemm_tiles.TABLE)
    assert all(isinstance(u, Units) for u in gemm_tiles.UNITS)
