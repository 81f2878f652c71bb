"""Elementwise work over views: rows of whole vec4s or not, tiles turned in workgroup memory, every width of element."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, launches, numbered, on_gpu, same

import tabgpu as tg
from tabgpu import engine, lower_strided

IN_TAB = sys.platform == "emscripten"
BRIEF = ("test_transposes_of_every_size",)
PATHS = ("as it is", "tiles", "tiles without memory")


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """CPU adapters read small transposed operands in rows; then what a GPU does, and what they do for large ones."""
    gpu = engine.device()
    was, cached = gpu.software, lower_strided.CACHED
    if request.param != PATHS[0] and not was:
        pytest.skip("a GPU: the first time was with tiles")
    if IN_TAB and request.param == PATHS[1]:
        dtype = request.node.callspec.params.get("dtype", "")
        if request.node.originalname not in BRIEF or dtype not in ("", "float32", "int8"):
            pytest.skip("SwiftShader takes seconds for each kernel with barriers; the native host runs it")
    gpu.software = was and request.param != "tiles"
    lower_strided.CACHED = cached if request.param != PATHS[2] else 0
    gpu.facts = gpu.programs = None
    yield request.param
    lower_strided.CACHED = cached
    gpu.software, gpu.facts, gpu.programs = was, None, None


@pytest.fixture
def alone() -> Iterator[None]:
    """Only what a test asks for is computed: nothing pending of others."""
    engine.pending.clear()
    yield


def permuted(x: Any, order: tuple[int, ...]) -> Any:
    return x.transpose(order) if isinstance(x, np.ndarray) else tg.permute_dims(x, order)


async def copies(cases: list[tuple[Any, Callable[[Any], Any]]], dtype: str) -> None:
    """Copies and a fused chain of views, for the same view of the host array."""
    made: list[Any] = []
    wanted: list[Any] = []
    labels = []
    for k, (x, view) in enumerate(cases):
        g = on_gpu(x, dtype)
        made += [tg.asarray(view(g), copy=True), tg.where(view(g) == view(g), view(g), view(g)[..., :1])]
        wanted += [view(x)] * 2
        labels += [f"{dtype} case {k} {x.shape} copy", f"{dtype} case {k} {x.shape} chain"]
    await same(made, wanted, labels)


# --- tiles ----------------------------------------------------------------------------------------------------------

EDGES = [
    (16, 16),
    (17, 16),
    (16, 19),
    (31, 33),
    (64, 64),
    (65, 63),
    (66, 128),
    (67, 132),
    (130, 65),
    (15, 64),
    (64, 3),
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "bfloat16", "float32", "complex64"])
@pytest.mark.limits
async def test_transposes_of_every_size(dtype: str, path: str) -> None:
    """I08: neighbouring bytes of a word are written by one thread. Tiles end inside and outside the array."""
    shapes = EDGES if path == PATHS[0] or not IN_TAB else EDGES[3:8:2]
    await copies([(numbered(s, dtype), lambda x: x.T) for s in shapes], dtype)


@pytest.mark.limits
async def test_transposes_of_parts(path: str) -> None:
    """Offsets and rows that no vec4 load fits, gaps between rows, backwards along either axis."""
    x = numbered((70, 90), "float32")
    views: list[Callable[[Any], Any]] = [
        lambda x: x[1:, 3:].T,
        lambda x: x[2:66, 4:68].T,
        lambda x: x[:, :64].T,
        lambda x: x[::-1].T,
        lambda x: x[:, ::-1].T,
        lambda x: x[::2].T,
        lambda x: x[:, 1::2].T,
        lambda x: x[5:37, 9].T,
    ]
    for dtype in ("float32", "int8", "float16"):
        await copies([(x.astype(dtype), v) for v in views], dtype)


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1), (1, 0, 2)])
async def test_permuted_axes(order: tuple[int, ...], path: str) -> None:
    shapes = [(17, 18, 20), (3, 33, 36), (36, 2, 35), (20, 16, 3)]
    await copies([(numbered(s, "float32"), lambda x: permuted(x, order)) for s in shapes], "float32")
    await copies([(numbered((17, 18, 20), "int8"), lambda x: permuted(x, order))], "int8")


async def test_permuted_axes_of_rank_4(path: str) -> None:
    x = numbered((2, 18, 3, 20), "int32")
    orders = [(0, 2, 1, 3), (0, 1, 3, 2), (3, 2, 1, 0), (0, 3, 1, 2), (3, 0, 2, 1), (1, 3, 0, 2)]
    await copies([(x, lambda x, o=o: permuted(x, o)) for o in orders], "int32")


async def test_chains_on_transposed_operands(path: str, alone: None) -> None:
    """One launch, whatever is transposed: one operand, several, more than workgroup memory holds, other outputs."""
    for shape in ((64, 96), (37, 50), (33, 36)):
        x, y, z = (numbered(shape[::-1], "float32", k) % 7 for k in (0, 5, 11))
        w = numbered(shape, "float32") % 5
        row, col = w[:1], w[:, :1]
        gx, gy, gz, gw = (tg.asarray(a) for a in (x, y, z, w))
        await tg.synchronize()
        cases: list[tuple[Any, Any]] = [
            (gx.T * gw + gw[:1], x.T * w + row),
            (gx.T * gw[:, :1] - gw, x.T * col - w),
            (gx.T + gy.T * gz.T, x.T + y.T * z.T),
            (gx.T * 2 + gw.T.T + 3, x.T * 2 + w + 3),
            ((gx.T > gw), x.T > w),
            ((gx.T * gw).astype("int8"), (x.T * w).astype("int8")),
        ]
        for k, (got, want) in enumerate(cases):
            before = launches()
            found = await got.numpy()
            assert launches() == before + 1, k
            assert np.array_equal(found, want), (shape, k)
        many = [numbered(shape[::-1], "float32", k) % 3 for k in range(6)]
        total, want = tg.asarray(many[0]).T, many[0].T
        for a in many[1:]:
            total, want = total + tg.asarray(a).T, want + a.T
        await same([total], [want])


async def test_several_outputs_of_a_transposed_operand(path: str, alone: None) -> None:
    x = numbered((40, 44), "float32") % 9
    g = tg.asarray(x)
    a = g.T * 2
    b = a + 1
    before = launches()
    await same([a, b], [x.T * 2, x.T * 2 + 1])
    assert launches() - before <= 2


async def test_bits_stay_as_they_are(path: str) -> None:
    """NaN payloads, infinities, -0 and denormals through a copy of a transposed array."""
    bits = np.random.default_rng(3).integers(0, 1 << 32, (33, 40), dtype=np.uint32)
    bits[0, :6] = [0x80000000, 0x7FC12345, 0xFF800000, 1, 0x807FFFFF, 0x7F800001]
    g = tg.asarray(bits.view(np.float32))
    for view in (lambda a: a.T, lambda a: a[:, 1:-2], lambda a: a[::-1, ::3], lambda a: a[1:, :32].T):
        got = await tg.asarray(view(g), copy=True).numpy()
        nan = np.isnan(view(bits.view(np.float32)))
        assert np.array_equal(got.view(np.uint32)[~nan], view(bits)[~nan]) and np.isnan(got[nan]).all()


async def test_halves_that_are_copied_keep_every_bit(path: str) -> None:
    bits = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    g = tg.asarray(bits.view(np.float16))
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::-1], lambda a: a[1:, 3:].T):
        got = await tg.asarray(view(g), copy=True).numpy()
        assert np.array_equal(got.view(np.uint16), view(bits))


# --- rows -----------------------------------------------------------------------------------------------------------

ROWS: dict[str, Callable[[Any], Any]] = {
    "behind the first": lambda x: x[..., 1:],
    "between": lambda x: x[..., 3:-2],
    "every second": lambda x: x[..., ::2],
    "every third backwards": lambda x: x[..., ::-3],
    "backwards": lambda x: x[..., ::-1],
    "rows backwards": lambda x: x[::-1],
    "every second row": lambda x: x[1::2],
    "one column": lambda x: x[..., 2:3],
    "one row": lambda x: x[-1:],
    "none": lambda x: x[:0],
    "of one": lambda x: x[1:2, ..., 4:5],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_rows_of_every_dtype(dtype: str) -> None:
    """S14, F05: views of even and ragged rows, alone and with operands repeated along either axis."""
    made, wanted, labels = [], [], []
    for shape in ((6, 12), (5, 9), (3, 4, 8), (1, 7), (21,), (2, 3, 7)):
        x = numbered(shape, dtype)
        g = on_gpu(x, dtype)
        for name, view in ROWS.items():
            if len(shape) == 1 and name == "of one":
                continue
            a, b = view(g), view(x)
            made += [tg.asarray(a, copy=True), tg.maximum(a, a) if dtype != "complex64" else a + 0]
            wanted += [b, b]
            labels += [f"{name} {shape}", f"{name} {shape} twice"]
            if b.ndim > 1 and b.size:
                made += [tg.where(a == a[:1], a[..., :1], a[:1])]
                wanted += [np.where(b == b[:1], b[..., :1], b[:1])]
                labels += [f"{name} {shape} repeated"]
    await same(made, wanted, labels)


@pytest.mark.limits
async def test_operands_repeated_along_rows_and_columns() -> None:
    """B02 and broadcasting: every mix of full, row, column and single operands, of sizes with and without rest."""
    made, wanted, labels = [], [], []
    for n, m in ((1, 1), (3, 4), (4, 3), (5, 64), (64, 5), (7, 7), (1, 9), (9, 1), (33, 100)):
        x = {
            "full": numbered((n, m)),
            "row": numbered((m,), start=3),
            "column": numbered((n, 1), start=5),
            "one": numbered((1, 1), start=9),
            "single": numbered((), start=4),
        }
        g = {k: tg.asarray(v) for k, v in x.items()}
        for a in x:
            for b in x:
                made.append(g[a] * 2 + g[b])
                wanted.append(x[a] * 2 + x[b])
                labels.append(f"{a} {b} {n} {m}")
        made.append(tg.where(g["row"] > g["column"], g["full"], g["single"]))
        wanted.append(np.where(x["row"] > x["column"], x["full"], x["single"]))
        labels.append("where")
    await same(made, wanted, labels)


async def test_positions_with_views() -> None:
    """Ranges have no memory: they count along any axis, also of tiles."""
    x = numbered((40, 37))
    g = tg.asarray(x)
    k, r = np.arange(40, dtype=np.int32), np.arange(37, dtype=np.int32)
    made = [
        g.T + tg.arange(40),
        g + tg.arange(37),
        g + tg.arange(40)[:, None],
        g.T - tg.arange(37)[:, None] * 2,
    ]
    await same(made, [x.T + k, x + r, x + k[:, None], x.T - r[:, None] * 2])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 127, 128, 130])
async def test_neighbouring_elements_of_a_word(n: int) -> None:
    """I08: odd lengths and offsets of packed elements."""
    made, wanted = [], []
    for dtype in ("int8", "uint8", "bool", "float16", "int16"):
        x = numbered((n + 5,), dtype)
        g = on_gpu(x, dtype)
        for a in range(4):
            made += [tg.asarray(g[a : a + n], copy=True), tg.where(g[a : a + n], g[:n], g[5 : 5 + n])]
            wanted += [x[a : a + n], np.where(x[a : a + n], x[:n], x[5 : 5 + n])]
    await same(made, wanted)


# --- random views -----------------------------------------------------------------------------------------------------


class Views:
    """The same random views of arrays of one shape, on the host and on the GPU."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        sizes = [1, 2, 3, 4, 8, 17, 20, 32, 33, 64, 70]
        self.shape = tuple(int(n) for n in self.rng.choice(sizes, self.rng.integers(1, 5)))
        while np.prod(self.shape) > 60000:
            self.shape = self.shape[1:]

    def one(self, dtype: str, start: int) -> tuple[Any, tg.Array]:
        order = tuple(int(k) for k in self.rng.permutation(len(self.shape)))
        back = tuple(int(k) for k in np.argsort(order))
        pad = self.rng.integers(0, 3, (2, len(self.shape)))
        whole = tuple(int(n) for n in np.array(self.shape) + pad[0] + pad[1])
        base = np.ascontiguousarray(numbered(whole, dtype, start).transpose(order))
        x, g = base.transpose(back), permuted(on_gpu(base, dtype), back)
        key = tuple(slice(int(a), int(a) + n) for a, n in zip(pad[0], self.shape, strict=True))
        x, g = x[key], g[key]
        for axis in range(len(self.shape)):
            step = int(self.rng.choice([1, 1, 1, -1]))
            part = (slice(None),) * axis + (slice(None, None, step),)
            x, g = x[part], g[part]
            if self.rng.integers(8) == 0:
                x, g = x[(slice(None),) * axis + (slice(0, 1),)], g[(slice(None),) * axis + (slice(0, 1),)]
        return x, g


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex64"])
async def test_random_views(dtype: str, path: str) -> None:
    made, wanted, labels = [], [], []
    for seed in range(40 if not IN_TAB else 12 if path == PATHS[0] else 3):
        views = Views(seed)
        pairs = [views.one(dtype, k) for k in range(1 + seed % 3)]
        x, g = pairs[0]
        for y, h in pairs[1:]:
            x, g = np.where(y == y, x, y), tg.where(h == h, g, h)
        made.append(tg.asarray(g, copy=True))
        wanted.append(x)
        labels.append(f"{seed} {views.shape}")
    await same(made, wanted, labels)


# --- what is compiled and launched ------------------------------------------------------------------------------------


async def test_shapes_and_strides_compile_nothing(path: str) -> None:
    """Sizes, strides and offsets are parameters: one kernel for all even squares, one for all ragged ones."""

    def chains(n: int, m: int) -> list[tg.Array]:
        g = tg.asarray(numbered((n, m), "float32"))
        return [g.T * 3 + 1, g + g[:1], g * g[:, :1], g[1:, : m // 4 * 4 - 4] + 2]

    async def run(*shapes: tuple[int, int]) -> int:
        for shape in shapes:
            for chain in chains(*shape):
                await chain.numpy()
        return int(tg.memory()["pipelines"])

    before = await run((64, 64), (33, 35))
    assert await run((68, 20), (128, 64), (24, 100), (35, 19), (129, 65), (17, 99)) == before


@pytest.mark.limits
async def test_more_tiles_than_one_dimension_of_a_dispatch(path: str) -> None:
    """`--limits` folds 100 workgroups into a second dimension; without it the shape is only large."""
    if IN_TAB and path == PATHS[1]:
        pytest.skip("barriers on a CPU adapter: minutes")
    x = numbered((333, 1024), "int32")
    g = tg.asarray(x)
    await same(
        [g.T + 1, g[:, 1:] + g[:1, 1:], g[:, ::-1] * 2], [x.T + 1, x[:, 1:] + x[:1, 1:], x[:, ::-1] * 2]
    )
