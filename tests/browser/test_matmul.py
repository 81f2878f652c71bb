"""matmul in the tab against NumPy in float64: small sizes, layouts, batches, integers, special values, epilogues."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, on_gpu, same, small

import tabgpu as tg

SIZES = (0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65)
EPS = 2.0**-24
NUMPY = {"f": np.float32, "i": np.int32, "u": np.uint32}

Pair = tuple[Any, Any]  # the same matrix on the host and on the GPU


def draw(rng: Any, shape: tuple[int, ...], kind: str = "f") -> Any:
    if kind == "f":
        return rng.standard_normal(shape).astype(np.float32)
    low, high = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    return rng.integers(low, high, shape).astype(NUMPY[kind])


class Store:
    """Random matrices cut from one buffer in several layouts; what lies around a slice is NaN or any integer."""

    def __init__(self, seed: int, kind: str = "f") -> None:
        rng = np.random.default_rng(seed)
        self.line = draw(rng, (66 * 66,), kind)
        self.gpu_line = tg.asarray(self.line)
        self.poison = draw(rng, (140, 210), kind)
        self.sheets: dict[tuple[int, int], Pair] = {}

    def sheet(self, rows: int, columns: int) -> Pair:
        """A sheet whose elements [3:, 5::3] are numbers up to rows x columns, all others NaN."""
        found = self.sheets.get((rows, columns))
        if found is None:
            host = self.poison.copy()
            if host.dtype == np.float32:
                inside = host[3 : 3 + rows, 5 : 5 + 3 * columns : 3].copy()
                host[...] = np.nan
                host[3 : 3 + rows, 5 : 5 + 3 * columns : 3] = inside
            found = self.sheets[rows, columns] = host, tg.asarray(host)
        return found

    def make(self, how: str, rows: int, columns: int) -> Pair:
        if how == "contiguous":
            n = rows * columns
            return self.line[7 : 7 + n].reshape(rows, columns), self.gpu_line[7 : 7 + n].reshape(
                rows, columns
            )
        if how == "transposed":
            host, gpu = self.make("contiguous", columns, rows)
            return host.T, gpu.T
        if how == "sliced":
            return tuple(x[3 : 3 + rows, 5 : 5 + 3 * columns : 3] for x in self.sheet(rows, columns))  # type: ignore[return-value]
        if how == "flipped":
            host, gpu = self.make("contiguous", rows, columns)
            return host[::-1, ::-1], gpu[::-1, ::-1]
        assert how == "repeated"  # one row seen many times
        host, gpu = self.make("contiguous", 1, columns)
        return np.broadcast_to(host, (rows, columns)), tg.broadcast_to(gpu, (rows, columns))


HOW = ("contiguous", "transposed", "sliced", "flipped", "repeated")


def check(label: str, got: Any, a: Any, b: Any) -> None:
    """Within 4 k 2^-24 (|a| @ |b|) of float64; integers exactly, wrapping."""
    k = a.shape[-1]
    if a.dtype != np.float32:
        want = np.matmul(a.astype(np.uint64), b.astype(np.uint64)).astype(np.uint32).view(a.dtype)
        assert got.dtype == a.dtype and got.shape == want.shape, f"{label}: {got.dtype} {got.shape}"
        assert np.array_equal(got, want), f"{label}: {(got != want).sum()} of {got.size} wrong"
        return
    wide = a.astype(np.float64), b.astype(np.float64)
    want = np.matmul(*wide)
    assert got.dtype == np.float32 and got.shape == want.shape, (
        f"{label}: {got.dtype} {got.shape}, {want.shape}"
    )
    bound = 4 * k * EPS * np.matmul(np.abs(wide[0]), np.abs(wide[1]))
    error = np.abs(got - want)
    good = error <= bound
    assert good.all(), f"{label}: {(~good).sum()} of {good.size} wrong, by up to {error[~good].max()}"


async def run(cases: list[tuple[str, Pair, Pair]]) -> None:
    results = [x[1] @ y[1] for _, x, y in cases]
    for (label, x, y), got in zip(cases, await tg.fetch(*results), strict=True):
        check(label, got, x[0], y[0])


@pytest.mark.parametrize("m", SIZES)
async def test_all_sizes_and_layouts(m: int) -> None:
    """Each (m, n, k) in one of the layouts; over the m all pairs of layouts meet all sizes of tiles."""
    store, other = Store(1), Store(2)
    cases = []
    for i, (n, k) in enumerate(itertools.product(SIZES, SIZES)):
        how = HOW[(i + m) % 5], HOW[(i // 5 + 2 * m) % 5]
        cases.append((f"{how} ({m},{k}) @ ({k},{n})", store.make(how[0], m, k), other.make(how[1], k, n)))
    await run(cases)


@pytest.mark.parametrize("how", list(itertools.product(HOW, HOW)), ids="-".join)
async def test_layouts(how: tuple[str, str]) -> None:
    store, other = Store(3), Store(4)
    sizes = [(1, 33, 17), (33, 1, 65), (1, 1, 63), (4, 4, 4), (31, 16, 5), (65, 63, 33), (2, 65, 1)]
    await run([(f"{how} {m, n, k}", store.make(how[0], m, k), other.make(how[1], k, n)) for m, n, k in sizes])


@pytest.mark.parametrize("kind", ["i", "u"])
async def test_integers_wrap_exactly(kind: str) -> None:
    store, other = Store(5, kind), Store(6, kind)
    cases = []
    for i, (m, n, k) in enumerate(itertools.product((0, 1, 3, 16, 33, 65), repeat=3)):
        how = HOW[i % 5], HOW[i // 5 % 5]
        cases.append((f"{kind} {how} {m, n, k}", store.make(how[0], m, k), other.make(how[1], k, n)))
    await run(cases)


async def test_bools_and_mixed_dtypes() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.random((5, 70)) < 0.1, rng.random((70, 33)) < 0.1
    got = tg.asarray(a) @ tg.asarray(b)
    assert got.dtype is tg.bool_
    assert np.array_equal(await got.numpy(), a @ b)
    x, y = draw(rng, (5, 70)), rng.integers(-9, 9, (70, 3)).astype(np.int32)
    mixed = await tg.fetch(
        tg.asarray(x) @ tg.asarray(y), tg.asarray(a) @ tg.asarray(y), tg.asarray(a) @ tg.asarray(x.T.copy())
    )
    check("f32 @ i32", mixed[0], x, y.astype(np.float32))
    assert mixed[1].dtype == np.int32 and np.array_equal(mixed[1], a.astype(np.int32) @ y)
    check("bool @ f32", mixed[2], a.astype(np.float32), x.T)


VECTORS = [
    ((5,), (5,)), ((1,), (1,)), ((0,), (0,)), ((5,), (5, 3)), ((4, 5), (5,)), ((0, 5), (5,)), ((5,), (5, 0)),
    ((0,), (0, 4)), ((3, 0), (0,)), ((5,), (2, 3, 5, 4)), ((2, 3, 4, 5), (5,)), ((300,), (300,)), ((1000,),
    (1000, 7)),
    ((7, 1000), (1000,)), ((3, 0), (0, 4)), ((2, 3, 0), (0, 4)), ((0, 3, 4), (4, 5)), ((5000,), (5000,)),
]  # fmt: skip


@pytest.mark.parametrize("a,b", VECTORS, ids=str)
async def test_vectors_and_empty_operands(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(8)
    x, y = draw(rng, a), draw(rng, b)
    got, by_name = await tg.fetch(tg.asarray(x) @ tg.asarray(y), tg.matmul(x, tg.asarray(y)))
    check(f"{a} @ {b}", got, x, y)
    assert got.tobytes() == by_name.tobytes()
    if a == (3, 0):
        assert not got.any()


BATCHES = [
    ((2, 3), ()), ((), (2, 3)), ((2, 1), (1, 3)), ((4,), (2, 1)), ((2, 3), (3,)), ((0,), (1,)), ((2, 0), (1, 1)),
    ((2, 3, 4), (2, 1, 4)), ((1, 3, 1, 2), (2, 1, 2, 1)), ((2, 1, 3, 1, 2), (1, 2, 1, 2, 2)),
    ((2, 1, 2, 1, 2), (2, 1, 2)), ((3, 1, 2, 1, 3), ()), ((1,), (1, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("a,b", BATCHES, ids=str)
async def test_batches_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(9)
    cases = []
    for m, n, k in [(3, 5, 4), (1, 6, 5), (6, 1, 5), (33, 17, 16)]:
        x, y = draw(rng, (*a, m, k)), draw(rng, (*b, k, n))
        cases.append((f"{a}{b} {m, n, k}", (x, tg.asarray(x)), (y, tg.asarray(y))))
        turned = np.ascontiguousarray(np.swapaxes(x, -1, -2)), np.ascontiguousarray(np.moveaxis(y, -1, 0))
        cases.append(
            (
                f"{a}{b} {m, n, k} turned",
                (x, tg.swapaxes(tg.asarray(turned[0]), -1, -2)),
                (y, tg.moveaxis(tg.asarray(turned[1]), 0, -1)),
            )
        )
    await run(cases)


async def test_batch_axes_that_no_strides_can_say() -> None:
    """Five batch axes, reversed, stepped and permuted: what does not merge to three is written out first."""
    rng = np.random.default_rng(10)
    x, y = draw(rng, (3, 2, 4, 2, 3, 5, 4)), draw(rng, (3, 2, 2, 2, 2, 4, 3))
    gx, gy = tg.asarray(x), tg.asarray(y)

    def cut(a: Any, b: Any, permute: Any) -> Any:
        a = permute(a[::-2, :, ::3, ::-1, 1:], (4, 1, 2, 3, 0, 6, 5))
        return a, permute(b[:2, :, ::-1, :, :1], (0, 2, 1, 3, 4, 6, 5))

    host, gpu = cut(x, y, np.transpose), cut(gx, gy, tg.permute_dims)
    assert host[0].shape == gpu[0].shape == (2, 2, 2, 2, 2, 4, 5)
    a, b = np.swapaxes(host[0], -1, -2), np.swapaxes(host[1], -1, -2)
    ga, gb = tg.matrix_transpose(gpu[0]), tg.matrix_transpose(gpu[1])
    await run([("five axes", (a, ga), (b, gb))])


@pytest.mark.parametrize("m", [1, 7, 31, 32, 33, 64, 65, 499, 500, 513])
@pytest.mark.limits
async def test_heights(m: int) -> None:
    rng = np.random.default_rng(11)
    x, y, z = draw(rng, (m, 70)), draw(rng, (70, 33)), draw(rng, (3, m, 21))
    gx, gy, gz = tg.asarray(x), tg.asarray(y), tg.asarray(z)
    await run(
        [
            ("m", (x, gx), (y, gy)),
            ("n", (y.T, gy.T), (x.T, gx.T)),
            ("k", (z.swapaxes(1, 2), tg.swapaxes(gz, 1, 2)), (x, gx)),
            ("batched", (z, gz), (y[:21], gy[:21])),
        ]
    )


async def test_attention_shaped_batches() -> None:
    rng = np.random.default_rng(12)
    x, y = draw(rng, (1, 8, 512, 512)), draw(rng, (1, 8, 512, 32))
    await run([("(1,8,512,512) @ (1,8,512,32)", (x, tg.asarray(x)), (y, tg.asarray(y)))])


@pytest.mark.limits
async def test_more_matrices_than_a_dimension_of_a_dispatch() -> None:
    rng = np.random.default_rng(13)
    x, y = draw(rng, (70000, 1, 8)), draw(rng, (8, 4))
    z = draw(rng, (70000, 8, 1))
    gx, gy, gz = tg.asarray(x), tg.asarray(y), tg.asarray(z)
    await run([("(70000,1,8) @ (8,4)", (x, gx), (y, gy)), ("inner products", (x, gx), (z, gz))])


async def test_long_inner_axis() -> None:
    rng = np.random.default_rng(14)
    x, y = draw(rng, (3, 40000)), draw(rng, (40000, 5))
    await run([("k = 40000", (x, tg.asarray(x)), (y, tg.asarray(y)))])


@pytest.mark.parametrize("m,n,k", [(1, 1, 1), (1, 5, 3), (5, 1, 3), (17, 33, 5), (65, 65, 33), (3, 2, 300)])
@pytest.mark.limits
async def test_special_values(m: int, n: int, k: int) -> None:
    """NaN and infinities arrive where IEEE puts them, and nowhere else; products and zeros keep their meaning."""
    rng = np.random.default_rng(15)
    x, y = draw(rng, (m, k)), draw(rng, (k, n))
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    spots = [(x, m, k), (y, k, n)]
    for i in range(8):
        a, rows, columns = spots[i % 2]
        a[rng.integers(rows), rng.integers(columns)] = values[rng.integers(5)]
    with np.errstate(all="ignore"):
        want = x.astype(np.float64) @ y.astype(np.float64)
        got = await (tg.asarray(x) @ tg.asarray(y)).numpy()
        assert np.array_equal(np.isnan(got), np.isnan(want))
        assert np.array_equal(np.isinf(got), np.isinf(want))
        assert np.array_equal(np.sign(got[np.isinf(got)]), np.sign(want[np.isinf(want)]))
        fine = np.isfinite(want)
        fx, fy = np.nan_to_num(x, nan=0, posinf=0, neginf=0), np.nan_to_num(y, nan=0, posinf=0, neginf=0)
        bound = 4 * k * EPS * (np.abs(fx).astype(np.float64) @ np.abs(fy))
        assert (np.abs(got - want)[fine] <= bound[fine]).all()


async def test_values_beyond_float32() -> None:
    """float64 input becomes inf and 0 first (N23), so that inf * 0 is NaN."""
    with np.errstate(over="ignore"):
        a = np.array([[1.6e40, -1e40, 1e-50]])
        narrow = a.astype(np.float32)
    assert (await tg.asarray(a).tolist()) == narrow.tolist() == [[np.inf, -np.inf, 0.0]]
    columns = np.array([[1, 1, 0, 0], [0, 2, 0, 0], [np.inf, 0, 0, 1]], np.float32)
    with np.errstate(invalid="ignore"):
        want = narrow.astype(np.float64) @ columns
    assert np.array_equal(await (tg.asarray(a) @ tg.asarray(columns)).numpy(), want, equal_nan=True)
    big = tg.asarray(np.array([[3e38, 3e38]], np.float32))
    assert (await (big @ tg.asarray(np.array([[2.0], [1.0]], np.float32))).tolist()) == [[np.inf]]


# --- what follows a product ---------------------------------------------------------------------------------


async def launches_of(value: Any) -> tuple[Any, int]:
    before = tg.device().counters.launches
    got = await value.numpy()
    return got, tg.device().counters.launches - before


EPILOGUES = {
    "alpha": lambda p, c, xp: 0.5 * p,
    "row bias": lambda p, c, xp: p + c[0],
    "column bias": lambda p, c, xp: p - c[:, :1],
    "residual": lambda p, c, xp: c + p,
    "alpha, beta": lambda p, c, xp: 2.5 * p + -1.5 * c,
    "relu": lambda p, c, xp: xp.maximum(p + c[0], 0.0),
    "tanh": lambda p, c, xp: xp.tanh(0.1 * p + c[1]),
    "square": lambda p, c, xp: p * p,
    "distances": lambda p, c, xp: c[:, :1] + c[0] - 2.0 * p,
    "reversed residual": lambda p, c, xp: p + c[::-1, ::-1],
}


@pytest.mark.parametrize("name", EPILOGUES)
async def test_epilogue_is_part_of_the_launch(name: str) -> None:
    f = EPILOGUES[name]
    rng = np.random.default_rng(16)
    for m, n, k in [(2, 2, 3), (5, 7, 9), (65, 33, 16), (3, 70, 65)]:
        x, y, c = draw(rng, (m, k)), draw(rng, (k, n)), draw(rng, (m, n))
        got, launches = await launches_of(f(tg.asarray(x) @ tg.asarray(y), tg.asarray(c), tg))
        product = x.astype(np.float64) @ y.astype(np.float64)
        want = f(product, c.astype(np.float64), np)
        slack = 4 * k * EPS * (np.abs(x).astype(np.float64) @ np.abs(y))
        slope = {"square": 2 * np.abs(product) + slack}.get(name, 3.0)
        rounding = 8 * EPS * (np.abs(product) * 3 + np.abs(want) + 3 * np.abs(c).max())
        assert got.shape == want.shape and launches == 1, f"{name} {m, n, k}: {launches} launches"
        assert (np.abs(got - want) <= slope * slack + rounding).all(), f"{name} {m, n, k}"


@pytest.mark.limits
async def test_epilogue_of_batches_and_integers() -> None:
    rng = np.random.default_rng(17)
    x, y, c = draw(rng, (3, 5, 9)), draw(rng, (9, 4)), draw(rng, (3, 1, 4))
    got, launches = await launches_of((tg.asarray(x) @ tg.asarray(y)) * 2.0 + tg.asarray(c))
    want = (x.astype(np.float64) @ y) * 2 + c
    assert launches == 1 and np.abs(got - want).max() < 1e-5
    i, j = draw(rng, (6, 9), "i"), draw(rng, (9, 5), "i")
    got, launches = await launches_of((tg.asarray(i) @ tg.asarray(j)) * 3 - 1)
    with np.errstate(over="ignore"):
        assert launches == 1 and np.array_equal(got, (i @ j) * np.int32(3) - np.int32(1))


async def test_vectors_keep_their_epilogue() -> None:
    rng = np.random.default_rng(18)
    x, y, c = draw(rng, (40,)), draw(rng, (40, 9)), draw(rng, (9,))
    got = await ((tg.asarray(x) @ tg.asarray(y)) + tg.asarray(c)).numpy()
    assert got.shape == (9,) and np.abs(got - (x.astype(np.float64) @ y + c)).max() < 1e-4


async def test_a_product_used_twice_is_computed_once() -> None:
    rng = np.random.default_rng(19)
    x, y = tg.asarray(draw(rng, (33, 20))), tg.asarray(draw(rng, (20, 17)))
    p = x @ y
    whole, more = await tg.fetch(p, p + 1.0)
    assert np.array_equal(more, whole + np.float32(1))
    again, launches = await launches_of(p * 2.0)
    assert launches == 1 and np.array_equal(again, whole * 2)


async def test_products_of_products_and_of_fused_operands() -> None:
    rng = np.random.default_rng(20)
    x, y, z = draw(rng, (17, 33)), draw(rng, (33, 9)), draw(rng, (9, 21))
    gx, gy, gz = tg.asarray(x), tg.asarray(y), tg.asarray(z)
    got = await ((gx * 2.0 + 1.0) @ tg.tanh(gy) @ gz.T.T).numpy()
    want = (x.astype(np.float64) * 2 + 1) @ np.tanh(y.astype(np.float64)) @ z
    assert np.abs(got - want).max() < 1e-3
    same = await (gx @ gx.T).numpy()
    check("x @ x.T", same, x, x.T)


async def test_operands_without_memory() -> None:
    got = await tg.fetch(
        tg.ones((3, 4)) @ tg.full((4, 2), 2.0),
        tg.arange(6).reshape(2, 3) @ tg.arange(3),
        tg.eye(5) @ tg.eye(5),
    )
    assert np.array_equal(got[0], np.full((3, 2), 8, np.float32))
    assert np.array_equal(got[1], np.arange(6).reshape(2, 3) @ np.arange(3))
    assert np.array_equal(got[2], np.eye(5, dtype=np.float32))


async def test_reflected_and_in_place() -> None:
    rng = np.random.default_rng(21)
    x, y = draw(rng, (4, 4)), draw(rng, (4, 4))
    g = tg.asarray(x)
    check("numpy @ gpu", await (y @ tg.asarray(x)).numpy(), y, x)
    check("gpu @ numpy", await (tg.asarray(x) @ y).numpy(), x, y)
    v = g[:2]
    g @= tg.asarray(y)
    check("in place", await g.numpy(), x, y)
    check("a view sees it", await v.numpy(), x[:2], y)


@pytest.mark.parametrize(
    "a,b",
    [
        ((3, 4), (5, 6)),
        ((3,), (4,)),
        ((3,), (4, 3)),
        ((2, 3, 4), (3, 4, 5)),
        ((), (3,)),
        ((3,), ()),
        ((2, 0), (3, 2)),
    ],
    ids=str,
)
def test_shapes_that_do_not_match(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    before = tg.device().counters.launches
    with pytest.raises(ValueError) as error:
        tg.ones(a) @ tg.ones(b)
    assert str(a) in str(error.value) and str(b) in str(error.value) or a[:-2] != b[:-2]
    assert tg.device().counters.launches == before


def test_dtypes_that_do_not_match() -> None:
    with pytest.raises(TypeError, match="int32.*uint32"):
        tg.ones((2, 2), dtype=tg.int32) @ tg.ones((2, 2), dtype=tg.uint32)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("float32", "int32", "uint32")])
@pytest.mark.limits
async def test_other_dtypes(dtype: str) -> None:
    """L08: narrow and complex operands of odd sizes, strided, batched, with vectors: exact, wrapped, rounded once."""
    rng = np.random.default_rng(23)
    made, wanted, labels = [], [], []
    shapes: list[Any] = [
        ((3, 5), (5, 7)), ((1, 1), (1, 1)), ((17, 33), (33, 2)), ((2, 3, 5), (5, 3)), ((5,), (5, 3)),
        ((2, 1, 3, 4), (3, 4, 1)), ((3,), (3,)),
        ((4, 0), (0, 3)), ((3, 5), (5,)),
    ]  # fmt: skip
    for a, b in shapes:
        x, y = small(rng, a, dtype, 7), small(rng, b, dtype, 7)
        g, h = on_gpu(x, dtype), on_gpu(y, dtype)
        if len(a) == 2:
            x, g = x[::-1, ::-1], g[::-1, ::-1]
        if len(b) == 2:
            y, h = np.array(y.T).T, on_gpu(y.T.copy(), dtype).T
        product = (
            x.astype(np.float64 if x.dtype.kind != "c" else complex) @ y if x.dtype.kind in "fc" else x @ y
        )
        if dtype == "bfloat16":
            product = await on_gpu(product.astype(np.float32), dtype).numpy()
        made.append(g @ h)
        wanted.append(np.asarray(product).astype(x.dtype))
        labels.append((a, b))
    await same(made, wanted, labels)


async def test_dtypes_that_promote() -> None:
    rng = np.random.default_rng(24)
    pairs = [("int8", "int32"), ("uint8", "int16"), ("bool", "float16"), ("float16", "float32"), ("int16",
    "complex64"),
             ("float32", "complex64"), ("bool", "uint16"), ("int32", "float32")]  # fmt: skip
    made, wanted = [], []
    for a, b in pairs:
        x, y = small(rng, (3, 5), a), small(rng, (5, 2), b)
        made += [tg.asarray(x) @ tg.asarray(y), tg.matmul(tg.asarray(y).T, tg.asarray(x).T)]
        want = (x.astype(np.complex64) @ y.astype(np.complex64)) if "complex64" in (a, b) else x @ y
        wanted += [want, np.asarray(want).T]
    for got, want, pair in zip(
        await tg.fetch(*made), wanted, [p for p in pairs for _ in (0, 1)], strict=True
    ):
        assert np.array_equal(got, want), pair
        assert got.dtype == want.dtype or (want.dtype == np.float64 and got.dtype == np.float32), pair


async def test_complex_special_values() -> None:
    """A NaN or Inf in one part reaches the sums that it is in, and no other row."""
    x = np.ones((3, 4), np.complex64)
    x[1, 2] = complex(0, np.nan)
    x[2, 1] = complex(np.inf, 0)
    got = await (tg.asarray(x) @ tg.ones((4, 2), dtype=tg.complex64)).numpy()
    assert np.array_equal(got[0], [4, 4]) and np.isnan(got[1]).all()
    assert np.isinf(got[2].real).all()


async def test_dot() -> None:
    rng = np.random.default_rng(22)
    x, y = draw(rng, (5, 7)), draw(rng, (7,))
    got = await tg.fetch(
        tg.dot(x, tg.asarray(y)), tg.asarray(y).dot(tg.asarray(y)), tg.dot(2.0, tg.asarray(y))
    )
    check("matrix", got[0], x, y)
    check("vector", got[1], y, y)
    assert np.array_equal(got[2], 2 * y)


async def test_products_over_very_long_axes() -> None:
    """Mesa's CPU driver ends loops after 65,535 rounds: 58,255 ones added up to 58,255 of 100,001."""
    for k in (32768, 32769, 100_001):
        a = tg.ones((2, k)) @ tg.broadcast_to(tg.asarray(np.float32([1.0, 2.0, -1.0])), (k, 3))
        assert await a.tolist() == [[k, 2 * k, -k]] * 2
    x = np.random.default_rng(0).integers(-9, 9, (3, 70_000)).astype(np.int32)
    assert np.array_equal(await (tg.asarray(x) @ tg.asarray(x).T).numpy(), x @ x.T)
