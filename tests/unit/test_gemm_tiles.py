"""The chooser of gemm variants: limits, alignment, coverage and a finite list; no browser."""

import itertools

import pytest

from tabgpu.kernels import read, replace_block, rewrite
from tabgpu.kernels.gemm_inner import gemm_inner
from tabgpu.kernels.gemm_tiles import TILES, choose

SIZES = [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65, 128, 500, 513, 1024, 4096]


def plain(m, n, k, batch=1, *, software=False, offsets=(0, 0), a=None, b=None, **limits):
    return choose(m, n, k, batch, a or (m * k, k, 1), b or (k * n, n, 1), offsets, limits, software)


@pytest.mark.parametrize("tile", TILES, ids=lambda t: t.name)
def test_every_tile_fits_the_guaranteed_limits(tile):
    assert tile.threads <= 256 and tile.memory <= 16384
    assert all(v % 4 == 0 for v in (tile.bm, tile.bn, tile.bk, tile.tm, tile.tn))
    assert tile.bm % tile.tm == 0 and tile.bn % tile.tn == 0
    # 32 consecutive threads form a rectangle of lx columns, and whole rectangles fill the grid of threads.
    assert 32 % tile.lx == 0 and (tile.bn // tile.tn) % tile.lx == 0
    rows = tile.bm // tile.tm
    assert rows % (32 // tile.lx) == 0 or tile.threads < 32


def test_all_but_one_tile_fit_128_invocations():
    assert [t.name for t in TILES if t.threads > 128] == ["t128x128"]


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("invocations, memory", [(256, 16384), (128, 16384), (64, 8192), (16, 2048)])
def test_limits_are_kept(software, invocations, memory):  # G16
    limits = {"maxComputeInvocationsPerWorkgroup": invocations, "maxComputeWorkgroupStorageSize": memory}
    for m, n in itertools.product(SIZES, SIZES):
        p = plain(m, n, 64, software=software, **limits)["params"]
        assert p["BM"] // p["TM"] * (p["BN"] // p["TN"]) <= invocations
        assert 4 * p["BK"] * (p["BM"] + p["BN"]) <= memory


def test_no_tile_fits():
    with pytest.raises(ValueError, match="8 invocations"):
        plain(5, 5, 5, maxComputeInvocationsPerWorkgroup=8)


def test_workgroups_cover_the_product():
    for m, n, batch in itertools.product(SIZES, SIZES, (1, 3)):
        r = plain(m, n, 20, batch)
        p = r["params"]
        assert r["tiles"] % batch == 0
        rows, cols = -(-m // p["BM"]), -(-n // p["BN"])
        assert r["tiles"] == rows * cols * batch


def test_the_list_of_variants_is_finite():
    """500 shapes, strides and offsets give no more than the listed variants."""
    seen = set()
    for i in range(500):
        m, n, k = 1 + 37 * i % 4000, 1 + 53 * i % 3000, 1 + 11 * i % 700
        a = [(m * k, k, 1), (m * k, 1, m), (0, k + i % 9, 1), (m * k, 2 * k, 2)][i % 4]
        b = [(k * n, n, 1), (k * n, 1, k), (0, n + i % 7, 1)][i % 3]
        r = plain(m, n, k, 1 + i % 3, offsets=(i % 5, i % 6), a=a, b=b)
        seen.add((r["name"], *sorted(r["params"].items()), *sorted(r["unroll"].items())))
    names = {v[0] for v in seen}
    assert len(names) == len(seen) <= 5 * len(TILES)
    assert len(names) > 3


def test_square_products_use_large_tiles_and_vec4():
    r = plain(4096, 4096, 4096)
    assert r["name"] == "t128x128_vec_kn" and r["params"]["AE"] == "vec4<T>"
    assert plain(4096, 4096, 4096, maxComputeInvocationsPerWorkgroup=128)["name"] == "t64x64_vec_kn"


@pytest.mark.parametrize(
    "a, b, offsets, k, way",
    [
        ((64, 1), (64, 1), (0, 0), 64, "_vec_kn"),
        ((1, 64), (64, 1), (4, 8), 64, "_vec_mn"),
        ((64, 1), (1, 64), (0, 0), 64, "_vec_kk"),
        ((1, 64), (1, 64), (0, 0), 64, "_vec_mk"),
        ((-64, 1), (64, 1), (4032, 0), 64, "_vec_kn"),  # rows flipped
        ((0, 1), (64, 1), (0, 0), 64, "_vec_kn"),  # broadcast rows
        ((64, 1), (64, 1), (1, 0), 64, ""),  # a slice that starts in the middle of a vec4
        ((64, 1), (64, 1), (0, 2), 64, ""),
        ((65, 1), (64, 1), (0, 0), 64, ""),  # rows that start anywhere
        ((64, 1), (64, 1), (0, 0), 63, ""),  # a vec4 over the end of a row would read the next
        ((64, -1), (64, 1), (63, 0), 64, ""),  # columns flipped
        ((128, 2), (64, 1), (0, 0), 64, ""),
        ((2, 64, 1), (64, 1), (0, 0), 64, ""),  # a batch stride that is no multiple of 4
    ],
)
def test_vec4_loads_only_where_every_vec4_is_aligned(a, b, offsets, k, way):
    r = plain(64, 64, k, offsets=offsets, a=a, b=b)
    assert r["name"] == "t32x32" + way
    assert r["params"]["A_VEC"] is r["params"]["B_VEC"] is bool(way)


def test_a_cpu_adapter_reads_scalars_and_compiles_little():
    for m, n in itertools.product(SIZES, SIZES):
        r = plain(m, n, 64, software=True)
        assert not r["params"]["A_VEC"] and r["unroll"]["steps"] == 1
        assert r["params"]["BM"] <= 16 or min(m, n) >= 96


def test_thin_products_use_thin_tiles():
    assert plain(1, 4096, 4096)["name"].startswith("t16x64")
    assert plain(4096, 1, 4096)["name"].startswith("t64x16")
    assert plain(5, 7, 4096)["name"] == "t16x16"


def test_the_params_are_lines_of_the_file():
    text = read("gemm")
    for m, n, software in [(4096, 4096, False), (64, 64, False), (5, 5, True), (1, 512, False)]:
        r = plain(m, n, 64, software=software)
        made = replace_block(rewrite(text, {"T": "i32", **r["params"]}), "unroll", gemm_inner(**r["unroll"]))
        assert "alias T = i32;" in made and f"const BM = {r['params']['BM']}u;" in made
        assert "var sum: array" not in made and "unroll: end" in made


@pytest.mark.parametrize("tile", TILES, ids=lambda t: t.name)
@pytest.mark.parametrize("ahead", [False, True])
def test_the_unrolled_block_has_every_product_once(tile, ahead):
    block = gemm_inner(tile.bm, tile.bn, tile.bk, tile.tm, tile.tn, ahead=ahead)
    lines = [line.strip() for line in block.splitlines()]
    products = [line for line in lines if " += a" in line]
    assert len(products) == tile.bk * tile.tm * tile.tn // 4
    assert len(set(products)) == tile.tm * tile.tn // 4
    passes = -(-(tile.bm + tile.bn) * tile.bk // (16 * tile.threads))
    assert sum(line.startswith("stage(") for line in lines) == passes
    assert block.count("workgroupBarrier();") == 2
    assert block.count("{") == block.count("}")


def test_a_tile_that_is_no_multiple_of_four_is_refused():
    with pytest.raises(ValueError, match="multiples of 4"):
        gemm_inner(18, 16, 16, 2, 4)
